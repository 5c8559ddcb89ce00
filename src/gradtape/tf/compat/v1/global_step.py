"""tf.compat.v1.train: the global step and learning rate schedules."""

from __future__ import annotations

import math as python_math
from typing import Any

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.state.variable.variable import Variable
from gradtape.tf.array.creation import convert_to_tensor
from gradtape.tf.math import elementwise as e
from gradtape.tf.math.cast import cast


class GlobalStep:
    """Holds the global step of this process; None until it is created."""

    variable: Any = None


def get_global_step(graph: Any = None) -> Any:
    """The global step, or None if it was not created."""
    return GlobalStep.variable


def get_or_create_global_step(graph: Any = None) -> Any:
    """The global step, an int64 variable; created with the value zero on first use."""
    if GlobalStep.variable is None:
        GlobalStep.variable = Variable(0, trainable=False, dtype=dtypes.int64, name="global_step")
    return GlobalStep.variable


@public
def create_global_step(graph: Any = None) -> Any:
    """Create the global step.

    Raises:
        ValueError: if it exists.
    """
    if GlobalStep.variable is not None:
        raise ValueError('"global_step" already exists.')
    return get_or_create_global_step()


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the global step."""
    return int(global_step_tensor)


def make_schedule(rate_at: Any) -> Any:
    """Make a schedule. As in eager TensorFlow, it returns a function without arguments."""

    def schedule(
        learning_rate: Any, global_step: Any, decay_steps: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if global_step is None:
            raise ValueError("Argument `global_step` must not be None.")

        def current_rate() -> Any:
            start = convert_to_tensor(learning_rate)
            step = cast(global_step, start.dtype)
            return rate_at(start, step, cast(decay_steps, start.dtype), *args, **kwargs)

        return current_rate

    return schedule


def exponential_rate(
    start: Any, step: Any, over: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Any:
    """`start · decay_rate ** (step / over)`."""
    power = step / over
    return start * e.pow(cast(decay_rate, start.dtype), e.floor(power) if staircase else power)


def natural_exp_rate(
    start: Any, step: Any, over: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Any:
    """`start · exp(-decay_rate · step / over)`."""
    power = step / over
    return start * e.exp(-decay_rate * (e.floor(power) if staircase else power))


def inverse_time_rate(
    start: Any, step: Any, over: Any, decay_rate: Any, staircase: bool = False, name: Any = None
) -> Any:
    """`start / (1 + decay_rate · step / over)`."""
    power = step / over
    return start / (1 + decay_rate * (e.floor(power) if staircase else power))


def cosine_rate(start: Any, step: Any, over: Any, alpha: float = 0.0, name: Any = None) -> Any:
    """Half a cosine wave from `start` down to `alpha · start`."""
    progress = e.minimum(step, over) / over
    return start * ((1 - alpha) * 0.5 * (1 + e.cos(python_math.pi * progress)) + alpha)


def polynomial_rate(
    start: Any,
    step: Any,
    over: Any,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    name: Any = None,
) -> Any:
    """`(start - end) · (1 - step / over) ** power + end`, where `end` is `end_learning_rate`."""
    if cycle:
        over = over * e.maximum(cast(1.0, start.dtype), -e.floor(-step / over))
    else:
        step = e.minimum(step, over)
    factor = e.pow(1 - step / over, power)
    return (start - end_learning_rate) * factor + end_learning_rate


exponential_decay, natural_exp_decay = (
    make_schedule(exponential_rate),
    make_schedule(natural_exp_rate),
)
inverse_time_decay, cosine_decay = make_schedule(inverse_time_rate), make_schedule(cosine_rate)
polynomial_decay = make_schedule(polynomial_rate)


def piecewise_constant(x: Any, boundaries: Any, values: Any, name: Any = None) -> Any:
    """A function that returns the value of the interval in which `x` lies."""
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "piecewise_constant: there must be one value more than boundaries. "
            f"Received {len(values)} values and {len(boundaries)} boundaries."
        )

    def current_rate() -> Any:
        interval = sum(int(convert_to_tensor(x)) > int(b) for b in boundaries)
        return convert_to_tensor(values[interval])

    return current_rate


piecewise_constant_decay = piecewise_constant
