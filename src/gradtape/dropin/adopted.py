"""What the package `tensorflow` of `gradtape adopt` runs when it is imported."""

from __future__ import annotations

import importlib
import os
import sys

from gradtape.dropin.import_block import find_importer, is_blocked
from gradtape.dropin.install import ROOT, install


def activate() -> None:
    """Install gradtape and replace the module that is being imported by its namespace.

    Raises:
        ModuleNotFoundError: if GRADTAPE_ADOPTED=0 hides the package, or if a library imports it
            that works without TensorFlow.
    """
    importer, _ = find_importer()
    hidden = os.environ.get("GRADTAPE_ADOPTED") == "0"
    if hidden or is_blocked(importer):
        why = "GRADTAPE_ADOPTED=0" if hidden else f"{importer} works without TensorFlow"
        raise ModuleNotFoundError(
            f"No module named {ROOT!r}: gradtape hides itself, because {why}.", name=ROOT
        )
    stand_in = sys.modules.pop(ROOT)
    try:
        install()
        importlib.import_module(ROOT)
    finally:
        sys.modules.setdefault(ROOT, stand_in)
