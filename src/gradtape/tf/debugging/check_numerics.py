"""Looking for NaN and infinity: in one tensor, or in whatever is computed while the check is on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import context
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import happening
from gradtape.ops.elementwise import identity
from gradtape.tape import backward as backward  # makes the steps that recorders are told
from gradtape.tf.public_op import FLOATS, operand

# What only moves values around; TensorFlow does not look at it either.
MOVING = (
    "broadcast_to concat flip gather gather_nd identity maximum minimum place reshape slice_ "
    "spread squeeze stack swap take transpose"
)
MOVES = frozenset(MOVING.split())


def faults(array: Any) -> str:
    """What is wrong with the values, in words; empty if they are finite."""
    if array.dtype.kind not in "fcV" or np.isfinite(array).all():
        return ""
    kinds = (("Inf", np.isinf), ("NaN", np.isnan))
    return " and ".join(word for word, test in kinds if test(array).any())


class Checker:
    """A recorder that looks at the results of all ops and remembers nothing.

    It says to know every tensor, so it is told about every op; gradients are computed with tensors
    while somebody listens, so it sees the ops of a backward sweep too.
    """

    unmarked = True
    stages = False

    def __init__(self) -> None:
        self.name = ""

    def __contains__(self, uid: int) -> bool:
        return True

    def __setitem__(self, uid: int, entry: tuple[Any, ...]) -> None:
        op = getattr(entry[0], "op", None)
        if op is not None:
            self.name = op.name

    def touch(self, variable: Any, uid: int) -> None:
        """A variable is read: nothing was computed."""

    def complete(self, outs: tuple[Tensor, ...]) -> None:
        """Check the results of the op that was recorded last."""
        if self.name in MOVES:
            return
        for i, out in enumerate(outs):
            found = faults(out._array)
            if found:
                raise InvalidArgumentError(
                    f"Detected Infinity or NaN in output {i} of op {self.name!r} (# of outputs: "
                    f"{len(outs)}): {found} values. dtype: {out.dtype.name}, shape: {out.shape}. "
                    "Look at its inputs, or call tf.debugging.disable_check_numerics()."
                )


def active() -> list[Checker]:
    """The checkers of this thread."""
    return [recorder for recorder in context.local.recorders if isinstance(recorder, Checker)]


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Check the results of all ops for NaN and infinity from now on, in this thread.

    Args:
        stack_height_limit: accepted for TensorFlow's sake.
        path_length_limit: accepted for TensorFlow's sake.

    Example:
        >>> tf.debugging.enable_check_numerics()
        >>> try:
        ...     tf.math.log(-1.0)
        ... except tf.errors.InvalidArgumentError as error:
        ...     "log" in str(error)
        ... finally:
        ...     tf.debugging.disable_check_numerics()
        True
    """
    if not active():
        context.push(Checker())


def disable_check_numerics() -> None:
    """Stop what `enable_check_numerics` began."""
    for checker in active():
        context.pop(checker)


@public
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, after a check that all its elements are finite.

    Args:
        tensor: of a floating dtype.
        message: what the error begins with.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if there is a NaN or an infinity.
    """
    x = operand("CheckNumerics", convert(tensor), FLOATS)
    check_finite(x, message)
    return identity(x)


@happening(fails_only=True)
def check_finite(x: Any, message: str) -> None:
    """Raise unless all elements are finite."""
    found = faults(x._array)
    if found:
        raise InvalidArgumentError(f"{message} : Tensor had {found} values")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """`x`, after a check that all its elements are finite; as `check_numerics`."""
    return check_numerics(x, message)
