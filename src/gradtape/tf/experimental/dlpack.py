"""tf.experimental.dlpack: exchange of tensors with other libraries through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.array_conversion import as_numpy_scalar
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor


class DLPackCapsule:
    """Gives a bare capsule the DLPack methods that `np.from_dlpack` needs."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        """The capsule."""
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU's device type and number."""
        return (1, 0)


@public
def to_dlpack(tf_tensor: Any) -> Any:
    """A DLPack capsule that shares the memory of a tensor; consumers must not write to it.

    Args:
        tf_tensor: a tensor.

    Returns:
        A capsule, for one consumer.

    Raises:
        InvalidArgumentError: if it is not an eager tensor, or DLPack does not support its dtype.
    """
    if not isinstance(tf_tensor, EagerTensor):
        raise InvalidArgumentError(
            f"to_dlpack: the argument must be a tensor. Received {type(tf_tensor)}."
        )
    try:
        return tf_tensor.__dlpack__()
    except (BufferError, TypeError) as error:
        raise InvalidArgumentError(
            f"to_dlpack: DLPack does not support the dtype {tf_tensor.dtype.name}. {error}"
        ) from None


@public
def from_dlpack(dlcapsule: Any) -> Tensor:
    """A tensor that shares the memory of a DLPack capsule or of an object with `__dlpack__`.

    Args:
        dlcapsule: a capsule, or an object with `__dlpack__`.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: if the argument is neither.
    """
    source = dlcapsule if hasattr(dlcapsule, "__dlpack__") else DLPackCapsule(dlcapsule)
    try:
        return make_tensor(as_numpy_scalar(np.from_dlpack(source)))
    except (AttributeError, BufferError, TypeError, RuntimeError) as error:
        raise InvalidArgumentError(f"from_dlpack: {error}. Received {type(dlcapsule)}.") from None
