"""Run a corpus with XLA preferred, and print the reasons why graphs ran on NumPy.

python corpus.py RUNNER ARGUMENTS...
"""

import contextlib
import json
import os
import runpy
import sys

os.environ["GRADTAPE_ENGINE"] = "xla"


def main():
    del sys.argv[0]
    with contextlib.suppress(SystemExit):
        runpy.run_path(sys.argv[0], run_name="__main__")
    import gradtape

    sys.stdout.write(json.dumps(gradtape.engine.declined()) + "\n")


if __name__ == "__main__":
    main()
