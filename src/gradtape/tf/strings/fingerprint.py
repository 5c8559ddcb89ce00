"""tf.fingerprint: 64 bits that identify the rows of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import UINT8
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.tf.strings.hash_bucket import farmhash


@public
def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """The fingerprint of each row of `data`, as eight bytes.

    A row of numbers is hashed by its bytes, a row of strings by the fingerprints of its strings.

    Args:
        data: a tensor with at least one axis.
        method: "farmhash64", the only one that TensorFlow has.
        name: has no effect here.

    Returns:
        A uint8 tensor of shape (rows, 8).

    Raises:
        InvalidArgumentError: for a scalar, and for another method.

    Example:
        >>> tf.fingerprint(["a", "bc"]).shape
        TensorShape([2, 8])
    """
    return hash_rows(convert(data), convert(method))


@call_on_host(lambda data, method: Spec(((*data._array.shape[:1], 8), UINT8)))
def hash_rows(data: Tensor, method: Tensor) -> Tensor:
    """The fingerprints of the rows."""
    array = np.asarray(data._array)
    if array.ndim < 1:
        raise InvalidArgumentError("fingerprint: `data` should have at least one dimension: [].")
    if method._array != b"farmhash64":
        raise InvalidArgumentError(
            f"fingerprint: Unsupported fingerprint method: {method.numpy()!r}. Use 'farmhash64'."
        )
    rows = np.ascontiguousarray(array).reshape(len(array), -1) if array.size else array
    found = [hash_row(row) for row in rows]
    return make_tensor(np.frombuffer(b"".join(found), np.uint8).reshape(len(array), 8))


def hash_row(row: Any) -> bytes:
    """The fingerprint of a raw row, in little-endian order."""
    if row.dtype != object:
        return farmhash(row.tobytes()).to_bytes(8, "little")
    words = [farmhash(text).to_bytes(8, "little") for text in row.ravel()]
    return words[0] if len(words) == 1 else farmhash(b"".join(words)).to_bytes(8, "little")
