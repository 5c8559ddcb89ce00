"""The memory that a tape holds."""

from __future__ import annotations

from gradtape.core.argument import describe
from gradtape.core.errors import public
from gradtape.debug.diagram import diagram_of_tape
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
    if not isinstance(tape, GradientTape):
        raise TypeError(f"saved_bytes: expected a GradientTape. Received {describe(tape)}.")
    return diagram_of_tape(tape).total
