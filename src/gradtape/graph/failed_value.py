"""Ops that fail during a trace because of their input values.

As in TensorFlow's graphs, such an op is an error only if its result is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.dispatch import run_kernel
from gradtape.core.errors import InvalidArgumentError, OpError
from gradtape.core.primitive import REGISTRY, Primitive
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.ops.raw_array import make_stand_in_array


class FailedValues(dict[int, InvalidArgumentError]):
    """The errors of failed ops, by the numbers of the values that stand for their results."""

    def add(self, error: InvalidArgumentError, outs: Iterable[Tensor]) -> None:
        """Note that the op failed whose results these stand-ins are."""
        self.update((out._array.number, error) for out in outs)

    def propagate(self, lifted: Iterable[Any], outs: Iterable[Tensor]) -> None:
        """Note that `outs` depend on a failed op if one of the operands does."""
        numbers = [a._array.number for a in lifted if isinstance(a, SymbolicTensor)]
        errors = [self[n] for n in numbers if n in self]
        self.update((out._array.number, errors[0]) for out in outs if errors)

    def raise_if_used(self, lifted: Iterable[Any]) -> None:
        """Raise the error of a failed op if one of these values depends on its result."""
        if self:
            for one in lifted:
                error = isinstance(one, SymbolicTensor) and self.get(one._array.number)
                if error:
                    raise error


def infer_failed_result(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """A stand-in for the result of an op that failed because of its input values; else None."""
    if REGISTRY.get(op.name) is not op or op.dynamic:
        return None
    try:
        given = [
            make_stand_in_array(list(r.shape), r.dtype) if hasattr(r, "shape") else r for r in raws
        ]
        return run_kernel(op, tuple(given), static)
    except (OpError, NotImplementedError, MemoryError):
        return None  # the shapes or dtypes are wrong, or the op rejects stand-ins
