"""Entry point of `python -m gradtape script.py args…`: runs a TensorFlow program on gradtape."""

import sys

from gradtape.dropin.run import main

sys.exit(main(sys.argv[1:]))
