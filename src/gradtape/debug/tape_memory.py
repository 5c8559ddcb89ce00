"""The memory that a tape holds."""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tape.gradient_tape import GradientTape


@public
def saved_bytes(tape: GradientTape) -> int:
    """Bytes of all arrays that `tape` keeps alive, each counted once.

    Args:
        tape: a tape that has recorded and is not used up.

    Returns:
        The number of bytes; 0 for a tape without a record.

    Example:
        >>> x = tf.ones((1000,))
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> gradtape.debug.saved_bytes(tape)
        4000
    """
    arrays: dict[int, int] = {}
    for entry in (tape._tape or {}).values():
        for tensor in tensors_in_entry(entry or ()):
            array = tensor._array
            base = getattr(array, "base", None)
            owner = array if base is None else base
            arrays[id(owner)] = owner.nbytes
    return sum(arrays.values())


def tensors_in_entry(parts: Any) -> Any:
    """Yield the tensors that an entry keeps alive."""
    for part in parts:
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, tuple):
            yield from tensors_in_entry(part)
