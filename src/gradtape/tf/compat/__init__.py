"""tf.compat: text and bytes, and TensorFlow 1's names as far as eager programs use them."""

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
    """Text as bytes; bytes as they are.

    Args:
        bytes_or_text: text, bytes or a bytearray.
        encoding: of the bytes.

    Raises:
        TypeError: if it is something else.
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
    """Bytes as text; text as it is.

    Args:
        bytes_or_text: text or bytes.
        encoding: of the bytes.

    Raises:
        TypeError: if it is something else.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"as_text: expected binary or unicode string. Received {bytes_or_text!r}.")


as_str = as_text


@public
def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Anything as text: bytes decoded, the rest as `str` shows it."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@public
def path_to_str(path: Any) -> Any:
    """A path as text; what is no path comes back as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


@public
def dimension_value(dimension: Any) -> Any:
    """A dimension as an integer, or None: what it is already."""
    return dimension


@public
def dimension_at_index(shape: Any, index: int) -> Any:
    """The size of an axis, or None."""
    known = TensorShape(shape)
    return None if known.rank is None else known[index]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """True: programs need not wait for older versions."""
    return True


def __getattr__(name: str) -> ModuleType:
    """`v1` and `v2` when they are first asked for."""
    if name == "v1":
        return import_module("gradtape.tf.compat.v1")
    if name == "v2":
        return sys.modules["gradtape"]
    raise AttributeError(f"module 'gradtape.tf.compat' has no attribute {name!r}", name=name)
