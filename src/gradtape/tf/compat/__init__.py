"""tf.compat: conversion of text and bytes; `v1` and `v2`."""

from __future__ import annotations

import numbers
import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)


@public
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Encode text as bytes; bytes are returned unchanged.

    Args:
        bytes_or_text: text, bytes or a bytearray.
        encoding: the encoding of the result.

    Raises:
        TypeError: if the argument has another type.
    """
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"as_bytes: expected binary or unicode string. Received {bytes_or_text!r}.")


@public
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Decode bytes as text; text is returned unchanged.

    Args:
        bytes_or_text: text or bytes.
        encoding: the encoding of the bytes.

    Raises:
        TypeError: if the argument has another type.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"as_text: expected binary or unicode string. Received {bytes_or_text!r}.")


as_str = as_text


@public
def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Convert any value to text: bytes are decoded, other values go through `str`."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@public
def path_to_str(path: Any) -> Any:
    """Convert a path-like object to text; other values are returned unchanged."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


@public
def dimension_value(dimension: Any) -> Any:
    """The dimension unchanged: in TensorFlow 2 it is already an integer or None."""
    return dimension


@public
def dimension_at_index(shape: Any, index: int) -> Any:
    """The size of an axis; None if it is unknown."""
    full = TensorShape(shape)
    return None if full.rank is None else full[index]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True: there are no older versions to stay compatible with."""
    return True


def __getattr__(name: str) -> ModuleType:
    """Import `v1` and `v2` on first access."""
    if name == "v1":
        return import_module("gradtape.tf.compat.v1")
    if name == "v2":
        return sys.modules["gradtape"]
    raise AttributeError(f"module 'gradtape.tf.compat' has no attribute {name!r}", name=name)
