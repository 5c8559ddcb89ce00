"""The files of a saved model, and trees in them.

gradtape_model.json      objects, functions and their graphs
gradtape_constants.…     arrays that graphs are made with, in the files of a checkpoint
variables/variables.…    the variables: a checkpoint as `tf.train.Checkpoint` writes it
assets/                  files that belong to the model
"""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np

from gradtape.core.errors import DataLossError
from gradtape.files import tensor_bundle
from gradtape.files.access import open_replacement, translate_os_errors

MODEL = "gradtape_model.json"
CONSTANTS = "gradtape_constants"
VARIABLES = os.path.join("variables", "variables")
ASSETS = "assets"
THEIRS = ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb")  # TensorFlow's
VERSION = 1


class Constants:
    """Arrays on their way to a file, each once."""

    def __init__(self) -> None:
        """None yet."""
        self.arrays: list[Any] = []
        self.numbers: dict[Any, int] = {}

    def number(self, array: Any) -> int:
        """The number of an array."""
        content = tuple(array.flat) if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self.numbers:
            self.numbers[key] = len(self.arrays)
            self.arrays.append(array)
        return self.numbers[key]

    def packed(self, tree: Any) -> Any:
        """A tree as JSON can hold it."""
        if isinstance(tree, dict):
            return {key: self.packed(value) for key, value in tree.items()}
        if isinstance(tree, (list, tuple)):
            return [self.packed(value) for value in tree]
        if isinstance(tree, np.ndarray):
            return {"$constant": self.number(tree)}
        if type(tree) is float and not math.isfinite(tree):
            return {"$float": str(tree)}
        return tree


def unpacked(tree: Any, arrays: list[Any]) -> Any:
    """A tree as it was before it was packed."""
    if isinstance(tree, dict):
        if "$constant" in tree:
            return arrays[tree["$constant"]]
        return {key: unpacked(value, arrays) for key, value in tree.items()}
    if isinstance(tree, list):
        return [unpacked(value, arrays) for value in tree]
    return tree


def write(directory: str, model: dict[str, Any], tensors: dict[str, Any]) -> None:
    """Write a model; the file that says what it is comes last."""
    constants = Constants()
    packed = constants.packed({"version": VERSION, **model})
    tensor_bundle.write_bundle(os.path.join(directory, VARIABLES), tensors)
    arrays = {f"{i:06d}": array for i, array in enumerate(constants.arrays)}
    tensor_bundle.write_bundle(os.path.join(directory, CONSTANTS), arrays)
    with open_replacement(os.path.join(directory, MODEL)) as file:
        file.write(json.dumps(packed, separators=(",", ":"), allow_nan=False).encode())


def read(directory: str) -> tuple[dict[str, Any], tensor_bundle.BundleReader]:
    """A model as it was written, and its variables."""
    name = os.path.join(directory, MODEL)
    with translate_os_errors(name), open(name, "rb") as file:
        data = file.read()
    try:
        packed = json.loads(data)
        version = packed["version"]
    except (ValueError, KeyError, TypeError):
        raise DataLossError(f"{name} is corrupt: it is not what gradtape writes.") from None
    if version > VERSION:
        raise DataLossError(f"{name}: written by a later version of gradtape (format {version}).")
    constants = tensor_bundle.BundleReader(os.path.join(directory, CONSTANTS))
    arrays = [constants.read(key) for key in sorted(constants.entries)]
    model = unpacked(packed, arrays)
    return model, tensor_bundle.BundleReader(os.path.join(directory, VARIABLES))
