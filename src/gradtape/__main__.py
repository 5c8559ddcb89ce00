"""Entry point of `python -m gradtape`; the command `gradtape` is the same."""

import sys

from gradtape.dropin.command import main

sys.exit(main())
