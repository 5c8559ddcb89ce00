"""Exceptions inside this package; the saver and the loader turn them into TensorFlow's errors."""

from __future__ import annotations

from typing import Any

import numpy as np


class CannotSave(Exception):  # noqa: N818  the saver turns it into an UnimplementedError
    """Something cannot be part of a model file; the text says why."""


class MalformedModel(Exception):  # noqa: N818  the loader turns it into a DataLossError
    """A part of a model file is not what the format allows."""

    def inside(self, place: str) -> MalformedModel:
        """The same error, with the place in the file in front."""
        return MalformedModel(f"{place}: {self}")


def shorten(value: Any, most: int = 80) -> str:
    """A value for an error message, in one short line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype.name} with shape {value.shape}"
    if isinstance(value, (list, dict, tuple)) and len(value) > 8:
        return f"a {type(value).__name__} of {len(value)} entries"
    text = ascii(value)
    return text if len(text) <= most else f"{text[:most]}..."
