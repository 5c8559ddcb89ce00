"""Results of the xla engine: JAX has them, or is still at work on them, until somebody looks.

A training loop so never waits for variables that only the next step reads, and copies none of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import repeat
from operator import neg
from typing import Any

from gradtape.core.context import next_uid
from gradtape.core.ports import XlaPort
from gradtape.core.tensor import EagerTensor, Tensor

held: Callable[[Tensor], Any] = Tensor.__dict__["_array"].__get__  # what a tensor holds, as it is
hold: Callable[[Tensor, Any], None] = Tensor.__dict__["_array"].__set__
name: Callable[[Tensor, int], None] = Tensor.__dict__["uid"].__set__
FEW = 12


def looked_at(tensor: Tensor) -> Any:
    """The raw array; from now on the tensor is like any other.

    Where several threads look at once, or an interrupt lands in here, it is fetched once more.
    """
    raw = XlaPort.fetch(held(tensor))
    hold(tensor, raw)
    tensor.__class__ = EagerTensor
    return raw


class Pending(EagerTensor):
    """A tensor that holds an array of JAX's in place of a raw one."""

    __slots__ = ()
    _array = property(looked_at, hold)


Pending.__name__ = Pending.__qualname__ = "EagerTensor"  # as TensorFlow calls it


def pending(array: Any, sign: int = 1) -> EagerTensor:
    """A tensor of what JAX has computed; its uid gets the sign."""
    tensor = Pending()
    hold(tensor, array)
    tensor.uid = sign * next_uid()
    return tensor


def versions(arrays: Sequence[Any]) -> list[Any]:
    """Tensors that are values of variables (see `storage.version`); many are made by loops in C."""
    if len(arrays) < FEW:
        return [pending(array, -1) for array in arrays]
    tensors = list(map(Pending.__new__, repeat(Pending, len(arrays))))
    deque(map(hold, tensors, arrays), 0)
    deque(map(name, tensors, map(neg, iter(next_uid, None))), 0)
    return tensors
