"""tf.experimental."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from gradtape.core.ragged.row_partition import RowPartition as RowPartition
from gradtape.pipeline.optional import Optional as Optional
from gradtape.tf.experimental import dlpack as dlpack

if TYPE_CHECKING:
    from gradtape.tf.api import numpy as numpy


def __getattr__(name: str) -> object:
    """Load `numpy` when it is first used."""
    if name == "numpy":
        return _import_module("gradtape.tf.api.numpy")
    raise AttributeError(f"module 'gradtape.tf.api.experimental' has no attribute {name!r}.")
