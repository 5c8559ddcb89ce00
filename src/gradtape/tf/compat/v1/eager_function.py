"""Functions of tf.compat.v1 that differ from TensorFlow 2's, or that only version 1 has."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.state.variable import variable
from gradtape.tf.api import math
from gradtape.tf.array import mask
from gradtape.tf.gradients import stop_gradient
from gradtape.tf.linalg import matmul
from gradtape.tf.math import elementwise
from gradtape.tf.math.cast import cast
from gradtape.tf.nn import dropout as dropping
from gradtape.tf.nn import loss
from gradtape.tf.random import stateful


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Do nothing: execution is always eager."""


def keep_v2_default() -> None:
    """Do nothing: this behaviour is always on."""


def return_true() -> bool:
    """Return True: this behaviour is always on."""
    return True


def skip_initialization(values: Any = None, name: str | None = None) -> None:
    """Do nothing: a variable is initialized when it is created."""


enable_control_flow_v2 = enable_resource_variables = keep_v2_default
enable_tensor_equality = enable_v2_behavior = enable_v2_tensorshape = keep_v2_default
control_flow_v2_enabled = resource_variables_enabled = executing_eagerly_outside_functions = (
    return_true
)
variables_initializer = assert_variables_initialized = skip_initialization


def global_variables_initializer() -> None:
    """Do nothing: a variable is initialized when it is created."""


local_variables_initializer = initialize_all_variables = global_variables_initializer
tables_initializer = global_variables_initializer


def Variable(  # noqa: N802  TensorFlow's name
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    **rest: Any,
) -> Any:
    """A tf.Variable, with the parameters in TensorFlow 1's order."""
    options = {key: rest[key] for key in ("shape", "synchronization", "aggregation") if key in rest}
    return variable.Variable(
        initial_value,
        trainable=trainable,
        validate_shape=validate_shape,
        name=name,
        dtype=dtype,
        **options,
    )


def assign(
    ref: Any,
    value: Any,
    validate_shape: Any = None,
    use_locking: Any = None,
    name: str | None = None,
) -> Any:
    """Assign a value to a variable."""
    return ref.assign(value)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Add to a variable."""
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: str | None = None) -> Any:
    """Subtract from a variable."""
    return ref.assign_sub(value)


@public
def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Quotient; of integers, rounded down."""
    x = convert(x)
    whole = x.dtype.is_integer
    return math.floordiv(x, y) if whole else elementwise.truediv(x, y)


@public
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Elements of `x` where `condition` holds, else of `y`; a vector `condition` selects rows."""
    condition = convert(condition)
    if x is None and y is None:
        return mask.where(condition)
    x, y = convert(x), convert(y)
    if x.shape != y.shape:
        raise ValueError(
            f"tf.compat.v1.where: x and y must have the same shape. Received {x.shape} and "
            f"{y.shape}. Use tf.where, which broadcasts."
        )
    if condition.shape.rank == 1 and x.shape.rank > 1:
        condition = condition[(slice(None), *[None] * (x.shape.rank - 1))]
    elif condition.shape.rank and condition.shape != x.shape:
        raise ValueError(
            f"tf.compat.v1.where: the condition must have the shape of x, or one axis. Received "
            f"{condition.shape} and {x.shape}. Use tf.where, which broadcasts."
        )
    return mask.where(condition, x, y)


@public
def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """tf.nn.dropout by `rate`, or by `keep_prob`, which is 1 - rate."""
    if (keep_prob is None) == (rate is None):
        raise ValueError("tf.compat.v1.nn.dropout: pass either keep_prob or rate.")
    return dropping.dropout(x, 1 - keep_prob if rate is None else rate, noise_shape, seed)


@public
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """Cross entropy of softmax(logits); the labels get no gradient."""
    if _sentinel is not None or labels is None or logits is None:
        raise ValueError(
            "tf.compat.v1.nn.softmax_cross_entropy_with_logits: pass labels= and logits= by name."
        )
    axis = dim if axis is None else axis
    return loss.softmax_cross_entropy_with_logits(stop_gradient(convert(labels)), logits, axis)


@public
def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """`x @ weights + biases`."""
    return elementwise.add(matmul.matmul(x, weights), biases)


@public
def multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Tensor:
    """tf.random.categorical."""
    return stateful.categorical(logits, num_samples, output_dtype or dtypes.int64, seed)


def make_cast_function(dtype: Any) -> Any:
    """Make a function that casts to a dtype."""

    def to_dtype(x: Any, name: str | None = None) -> Any:
        return cast(x, dtype)

    return to_dtype


to_bfloat16, to_float, to_double = (
    make_cast_function(dtypes.bfloat16),
    make_cast_function(dtypes.float32),
    make_cast_function(dtypes.float64),
)
to_int32, to_int64 = make_cast_function(dtypes.int32), make_cast_function(dtypes.int64)
to_complex64, to_complex128 = (
    make_cast_function(dtypes.complex64),
    make_cast_function(dtypes.complex128),
)
