"""Run a corpus with XLA preferred, and say at the end what ran on NumPy nevertheless.

python xla_corpus.py RUNNER ARGUMENTS...
"""

import json
import os
import runpy
import sys

os.environ["GRADTAPE_ENGINE"] = "xla"


def main():
    del sys.argv[0]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit:
        pass
    import gradtape

    print(json.dumps(gradtape.engine.declined()))


if __name__ == "__main__":
    main()
