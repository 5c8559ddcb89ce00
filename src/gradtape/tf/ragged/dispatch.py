"""Dispatch of public functions to their implementations for ragged tensors.

A public function that receives a ragged tensor fails with `NotDense` and is then looked up here.
So dispatch costs nothing for plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ragged.conversion import as_ragged_or_tensor
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.tf.ragged.broadcast import apply_elementwise
from gradtape.tf.ragged.conversion import total_rank_of
from gradtape.tf.tensor_operator import TENSOR_OPERATORS

# Generated elementwise functions of one argument, by module; below, those of two arguments
GENERATED_UNARY = {
    "math.elementwise": """
        abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor imag is_finite is_inf
        is_nan log log1p logical_not negative real angle reciprocal rint round rsqrt sigmoid sign
        sin sinh softplus softsign sqrt square tan tanh
    """,
    "math.special_function": "digamma erf erfc erfinv lgamma ndtri",
    "nn.activation": "elu relu relu6 selu",
}
GENERATED_BINARY = {
    "math.elementwise": """
        add atan2 divide equal floordiv floormod greater greater_equal less less_equal logical_and
        logical_or logical_xor maximum minimum multiply nextafter not_equal pow realdiv
        squared_difference subtract truediv truncatediv truncatemod
    """,
    "math.no_nan": "divide_no_nan multiply_no_nan xdivy xlog1py xlogy",
}
# Other functions that apply to the flat values of their first argument, by module
FLAT_VALUES_FUNCTIONS = {
    "nn.activation": "crelu gelu leaky_relu silu",
    "array.reshape": "bitcast",
    "array.shape": "identity",
    "math.cast": "cast conj saturate_cast",
    "math.clip": "clip_by_value",
    "array.creation": "ones_like zeros_like",
    "debugging.check_numerics": "check_numerics",
    "nn.dropout": "dropout",
    "math.elementwise": "log_sigmoid",
    "math.no_nan": "reciprocal_no_nan",
    "math.special_function": "erfcinv",
    "gradients": "stop_gradient",
    "strings.hash_bucket": "to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong",
    "array.mask": "one_hot",
    "strings.byte_string": "bytes_split length lower split strip substr upper",
    "strings.conversion": "as_string to_number",
    "strings.regex": "regex_full_match regex_replace",
    "strings.unicode": """
        unicode_decode unicode_decode_with_offsets unicode_split unicode_split_with_offsets
        unicode_transcode
    """,
}
# Functions with an implementation of their own: its module, then the function's module and name
RAGGED_IMPLEMENTATIONS = {
    "ragged.shape": {
        "array.repeat_roll": "reverse tile",
        "array.reshape": "expand_dims reshape squeeze",
        "array.shape": "shape",
        "array.concat_split": "concat split stack",
    },
    "ragged.gather_slice": {"array.gather": "gather gather_nd"},
    "ragged.reduce": {
        "math.reduce": """
            reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
            reduce_std reduce_sum reduce_variance
        """,
        "nn.loss": "softmax",
    },
    "ragged.strings": {
        "strings.join": "join ngrams reduce_join",
        "strings.unicode": "unicode_encode",
    },
    "ragged.dispatch": {
        "array.shape": "rank size",
        "math.bincount": "bincount",
        "nn.embedding": "embedding_lookup",
        "array.mask": "where",
        "array.dynamic_partition": "dynamic_partition",
        "math.add_n": "add_n",
    },
}
FLAT_VALUES_KEYS = {
    (home, name) for home, names in FLAT_VALUES_FUNCTIONS.items() for name in names.split()
}
IMPLEMENTATION_MODULES = {
    (home, name): module
    for module, homes in RAGGED_IMPLEMENTATIONS.items()
    for home, names in homes.items()
    for name in names.split()
}
# Cache of lookups, by undecorated function
RAGGED_DISPATCH: dict[Any, Callable[..., Any]] = {}


def find_ragged_implementation(function: Any) -> Callable[..., Any] | None:
    """The implementation of an undecorated public function for ragged tensors, or None."""
    if not RAGGED_DISPATCH:
        register_generated()
    if function not in RAGGED_DISPATCH:
        known = (function.__module__.removeprefix("gradtape.tf."), function.__name__)
        if known in FLAT_VALUES_KEYS:
            RAGGED_DISPATCH[function] = make_flat_values_function(function)
        elif known in IMPLEMENTATION_MODULES:
            module = import_module(f"gradtape.tf.{IMPLEMENTATION_MODULES[known]}")
            RAGGED_DISPATCH[function] = getattr(module, known[1])
        else:
            return None
    return RAGGED_DISPATCH[function]


def register_generated() -> None:
    """Register generated functions, which cannot be found by module and name."""
    for table, make in (
        (GENERATED_UNARY, make_flat_values_function),
        (GENERATED_BINARY, make_broadcasting_function),
    ):
        for home, names in table.items():
            module = import_module(f"gradtape.tf.{home}")
            for name in names.split():
                function = getattr(module, name)
                RAGGED_DISPATCH[function] = make(function)
    for name, function in TENSOR_OPERATORS.items():
        if "matmul" not in name:
            RAGGED_DISPATCH.setdefault(function, make_broadcasting_function(function))


def make_flat_values_function(function: Any) -> Callable[..., Any]:
    """Make a function that applies `function` to the flat values of its first argument."""

    @public
    def apply(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else next(iter(kwargs.values()))
        if not isinstance(first, RaggedTensor):
            raise ValueError(
                f"{function.__name__}: only the first argument may be ragged. Received "
                f"{type(first).__name__} as the first argument."
            )
        if args:
            result = function(first.flat_values, *args[1:], **kwargs)
        else:
            result = function(**{**kwargs, next(iter(kwargs)): first.flat_values})
        if isinstance(result, tuple):
            return tuple(first.with_flat_values(one) for one in result)
        return first.with_flat_values(result)

    return apply


def make_broadcasting_function(function: Any) -> Callable[..., Any]:
    """Make a function that broadcasts two operands and applies `function`."""

    @public
    def apply(x: Any = None, y: Any = None, name: str | None = None, **named: Any) -> Any:
        operands = [v for v in (x, y, *named.values()) if v is not None]
        return apply_elementwise(function, *operands)

    return apply


@public
def apply_operator(name: str, *operands: Any) -> Any:
    """Apply the operator whose method is called `name`."""
    function = TENSOR_OPERATORS[name]
    if name not in ("__eq__", "__ne__"):
        return apply_elementwise(function, *operands)
    if operands[1] is None:
        return name == "__ne__"
    try:
        return apply_elementwise(function, *operands)
    except (InvalidArgumentError, ValueError):  # the operands do not broadcast
        return name == "__ne__"


@public
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where `condition` holds, else `y`; without both, the coordinates of True elements."""
    from gradtape.tf.array.mask import where as dense

    if x is None and y is None:
        if condition.flat_values.ndim > 1:
            raise NotImplementedError(
                "where: a ragged condition with uniform inner axes is not supported."
            )
        from gradtape.tf.ragged.creation import boolean_mask

        places = condition.to_sparse().indices
        holds = convert(condition.flat_values, dtypes.bool)
        return boolean_mask(places, holds)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither of them.")
    held = as_ragged_or_tensor(condition, hint=dtypes.bool)
    kinds = [v.dtype for v in (x, y) if isinstance(v, (RaggedTensor, Tensor))]
    a, b = [as_ragged_or_tensor(v, hint=kinds[0] if kinds else None) for v in (x, y)]
    return apply_elementwise(dense, held, a, b)


@public
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements."""
    from gradtape.tf.array.shape import size as dense

    return dense(input.flat_values, out_type)


@public
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes."""
    return make_tensor(dtypes.int32.as_numpy_dtype(total_rank_of(input)))


@public
def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of several ragged tensors."""
    from gradtape.tf.math.elementwise import add

    total = inputs[0]
    for one in inputs[1:]:
        total = apply_elementwise(add, total, one)
    return total


@public
def embedding_lookup(
    params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> RaggedTensor:
    """Rows of `params`, one for each of ragged `ids`."""
    from gradtape.tf.nn.embedding import embedding_lookup as dense

    return ids.with_flat_values(dense(params, ids.flat_values, max_norm))


@public
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The rows of a ragged tensor, grouped by partition."""
    from gradtape.tf.ragged.partition import stack_dynamic_partitions

    groups = stack_dynamic_partitions(data, partitions, num_partitions)
    return [groups[i] for i in range(int(num_partitions))]


@public
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """The count of each integer; per row if `axis=-1`."""
    from gradtape.tf.math.bincount import bincount as dense

    flat = weights.flat_values if isinstance(weights, RaggedTensor) else weights
    options = {"dtype": dtype, "axis": axis, "binary_output": binary_output}
    if axis in (None, 0):
        return dense(arr.flat_values, flat, minlength, maxlength, **options)
    if total_rank_of(arr) != 2:
        raise ValueError(
            f"bincount: arr must have rank 2 for axis={axis}. Received shape {arr.shape}."
        )
    size = int(dense(arr.flat_values, None, minlength, maxlength).shape[0])
    filled = None if weights is None else weights.to_tensor()
    return dense(arr.to_tensor(size), filled, size, size, **options)
