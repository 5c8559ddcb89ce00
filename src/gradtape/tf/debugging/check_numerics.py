"""Checks for NaN and infinity: of one tensor, or of all op results while checking is enabled."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import context
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import side_effect
from gradtape.ops.elementwise import identity
from gradtape.tape import backward as backward  # imported for its effect: it fills a port of core
from gradtape.tf.public_op import FLOATS, check_dtype

# Ops that only move values. TensorFlow does not check them either.
DATA_MOVEMENT_LIST = (
    "broadcast_to concat flip gather gather_nd identity maximum minimum place reshape slice_ "
    "spread squeeze stack swap take transpose"
)
DATA_MOVEMENT_OPS = frozenset(DATA_MOVEMENT_LIST.split())


def describe_nonfinite(array: Any) -> str:
    """Name the non-finite values: "Inf", "NaN" or both; empty if all are finite."""
    if array.dtype.kind not in "fcV" or np.isfinite(array).all():
        return ""
    kinds = (("Inf", np.isinf), ("NaN", np.isnan))
    return " and ".join(word for word, test in kinds if test(array).any())


class NumericsChecker:
    """A recorder that checks the results of all ops and stores nothing.

    It claims to know every tensor, so dispatch reports every op to it. While a recorder is active
    the backward pass runs on tensors, so its ops are checked too.
    """

    unmarked = True
    is_trace = False

    def __init__(self) -> None:
        self.last_op_name = ""

    def __contains__(self, uid: int) -> bool:
        return True

    def __setitem__(self, uid: int, entry: tuple[Any, ...]) -> None:
        op = entry[0].op
        if op is not None:
            self.last_op_name = op.name

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Do nothing: reading a variable computes nothing."""

    def complete(self, outs: tuple[Tensor, ...]) -> None:
        """Check the results of the op that was recorded last."""
        if self.last_op_name in DATA_MOVEMENT_OPS:
            return
        for i, out in enumerate(outs):
            found = describe_nonfinite(out._array)
            if found:
                raise InvalidArgumentError(
                    f"Detected Infinity or NaN in output {i} of op {self.last_op_name!r} (# of "
                    f"outputs: "
                    f"{len(outs)}): {found} values. dtype: {out.dtype.name}, shape: {out.shape}. "
                    "Look at its inputs, or call tf.debugging.disable_check_numerics()."
                )


def active_checkers() -> list[NumericsChecker]:
    """The checkers of this thread."""
    return [
        recorder for recorder in context.local.recorders if isinstance(recorder, NumericsChecker)
    ]


@public
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Check the results of all ops for NaN and infinity from now on, in this thread.

    Args:
        stack_height_limit: has no effect here.
        path_length_limit: has no effect here.

    Returns:
        None.

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
    if not active_checkers():
        context.push_recorder(NumericsChecker())


def disable_check_numerics() -> None:
    """Undo `enable_check_numerics`.

    Returns:
        None.
    """
    for checker in active_checkers():
        context.pop_recorder(checker)


@public
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, after a check that all its elements are finite.

    Args:
        tensor: of a floating dtype.
        message: prefix of the error message.
        name: has no effect here.

    Returns:
        The tensor.

    Raises:
        InvalidArgumentError: if an element is NaN or infinite.

    Example:
        >>> tf.debugging.check_numerics([1.0, 2.0], "activations").numpy()
        array([1., 2.], dtype=float32)
    """
    x = check_dtype("CheckNumerics", convert(tensor), FLOATS)
    check_finite(x, message)
    return identity(x)


@side_effect(fails_only=True)
def check_finite(x: Any, message: str) -> None:
    """Raise unless all elements are finite."""
    found = describe_nonfinite(x._array)
    if found:
        raise InvalidArgumentError(f"{message} : Tensor had {found} values")


@public
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """`x`, after a check that all its elements are finite; as `check_numerics`.

    Args:
        x: a tensor of floats.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        The tensor.
    """
    return check_numerics(x, message)
