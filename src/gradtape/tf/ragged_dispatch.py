"""Which function stands in for which where an argument is ragged.

A public function that meets a ragged tensor fails with `NotDense`; then it is looked up here. So
plain tensors pay nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ragged import DISPATCH, RaggedTensor, as_values
from gradtape.core.tensor import Tensor, eager
from gradtape.tf import ragged_index, ragged_reduce, ragged_shape, ragged_text
from gradtape.tf.operators import OPERATORS
from gradtape.tf.ragged_broadcast import elementwise
from gradtape.tf.ragged_index import rank_of

# By module: functions whose first argument, or list of arguments, may be ragged, element by element
UNARY = {
    "elementwise": """
        abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc erfcinv erfinv exp expm1
        floor imag is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not ndtri negative
        real angle reciprocal reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softplus
        softsign sqrt square tan tanh
    """,
    "casting": "cast conj saturate_cast",
    "creation": "ones_like zeros_like",
    "array": "bitcast identity",
    "mask": "one_hot",
    "gradients": "stop_gradient",
    "activation": "crelu elu gelu leaky_relu relu relu6 selu silu swish",
    "dropout": "dropout",
    "debugging": "check_numerics",
    "clip": "clip_by_value",
    "text": """
        as_string bytes_split length lower regex_full_match regex_replace split strip substr
        to_number upper
    """,
    "unicode": """
        unicode_decode unicode_decode_with_offsets unicode_split unicode_split_with_offsets
        unicode_transcode
    """,
    "hashing": "to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong",
}
BINARY = {
    "elementwise": """
        add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less
        less_equal logical_and logical_or logical_xor maximum minimum multiply multiply_no_nan
        nextafter not_equal pow realdiv squared_difference subtract truediv truncatediv truncatemod
        xdivy xlog1py xlogy
    """,
}
OTHERS: dict[str, dict[str, Callable[..., Any]]] = {
    "array": {
        name: getattr(ragged_shape, name)
        for name in ("expand_dims", "reshape", "reverse", "shape", "squeeze", "tile")
    },
    "joining": {name: getattr(ragged_shape, name) for name in ("concat", "split", "stack")},
    "lookup": {"gather": ragged_index.gather, "gather_nd": ragged_index.gather_nd},
    "creation": {"fill": ragged_shape.fill},
    "reduction": {
        name: getattr(ragged_reduce, name)
        for name in """
            reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
            reduce_std reduce_sum reduce_variance
        """.split()
    },
    "loss": {"softmax": ragged_reduce.softmax},
    "text": {"join": ragged_text.join, "reduce_join": ragged_text.reduce_join},
    "unicode": {"unicode_encode": ragged_text.unicode_encode},
}


def key_of(function: Any) -> Any:
    """A public function without what decorates it."""
    return getattr(function, "__wrapped__", function)


def found(function: Any) -> Callable[..., Any] | None:
    """What a function does for ragged tensors, or None."""
    if not DISPATCH:
        fill()
    return DISPATCH.get(function)


def fill() -> None:
    """Enter all functions into the table."""
    for module, names in UNARY.items():
        for name in names.split():
            enter(module, name, flatwise)
    for module, names in BINARY.items():
        for name in names.split():
            enter(module, name, pairwise)
    for module, functions in OTHERS.items():
        for name, function in functions.items():
            DISPATCH[key_of(getattr(home(module), name))] = function
    for (module, name), function in HERE.items():
        DISPATCH[key_of(getattr(home(module), name))] = function
    for name, function in OPERATORS.items():
        if "matmul" not in name:
            DISPATCH.setdefault(key_of(function), pairwise(function))


def home(module: str) -> Any:
    """A module of the namespace."""
    return import_module(f"gradtape.tf.{module}")


def enter(module: str, name: str, way: Callable[[Any], Any]) -> None:
    """Enter one function, if there is one of this name."""
    function = getattr(home(module), name)
    DISPATCH[key_of(function)] = way(function)


def flatwise(function: Any) -> Callable[..., Any]:
    """A function of the flat values; other arguments stay as they are."""

    @public
    def apply(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else next(iter(kwargs.values()))
        if not isinstance(first, RaggedTensor):
            raise ValueError(
                f"{function.__name__}: only the first argument may be ragged. Received "
                f"{type(first).__name__} there."
            )
        if args:
            result = function(first.flat_values, *args[1:], **kwargs)
        else:
            result = function(**{**kwargs, next(iter(kwargs)): first.flat_values})
        if isinstance(result, tuple):
            return tuple(first.with_flat_values(one) for one in result)
        return first.with_flat_values(result)

    return apply


def pairwise(function: Any) -> Callable[..., Any]:
    """A function of operands that are broadcast against each other."""

    @public
    def apply(x: Any = None, y: Any = None, name: str | None = None, **named: Any) -> Any:
        operands = [v for v in (x, y, *named.values()) if v is not None]
        return elementwise(function, *operands)

    return apply


@public
def operate(name: str, *operands: Any) -> Any:
    """An operator by the name of its method."""
    function = OPERATORS[name]
    if name not in ("__eq__", "__ne__"):
        return elementwise(function, *operands)
    if operands[1] is None:
        return name == "__ne__"
    try:
        return elementwise(function, *operands)
    except (InvalidArgumentError, ValueError):  # they do not broadcast
        return name == "__ne__"


@public
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where `condition` holds, else `y`; with neither, the coordinates of what is true."""
    from gradtape.tf.mask import where as dense

    if x is None and y is None:
        if condition.flat_values.ndim > 1:
            raise NotImplementedError("where: inner axes are not there for a ragged condition.")
        from gradtape.tf.ragged import boolean_mask

        places = condition.to_sparse().indices
        holds = convert(condition.flat_values, dtypes.bool)
        return boolean_mask(places, holds)
    if x is None or y is None:
        raise ValueError("where: x and y must both be given, or neither of them.")
    held = as_values(condition, dtypes.bool)
    kinds = [v.dtype for v in (x, y) if isinstance(v, (RaggedTensor, Tensor))]
    a, b = [as_values(v, hint=kinds[0] if kinds else None) for v in (x, y)]
    return elementwise(dense, held, a, b)


@public
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements."""
    from gradtape.tf.array import size as dense

    return dense(input.flat_values, out_type)


@public
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes."""
    return eager(dtypes.int32.as_numpy_dtype(rank_of(input)))


@public
def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of several, which must have the same rows."""
    from gradtape.tf.elementwise import add

    total = inputs[0]
    for one in inputs[1:]:
        total = elementwise(add, total, one)
    return total


@public
def embedding_lookup(
    params: Any, ids: Any, max_norm: Any = None, name: str | None = None
) -> RaggedTensor:
    """Rows of `params`, one for each of ragged `ids`."""
    from gradtape.tf.embedding import embedding_lookup as dense

    return ids.with_flat_values(dense(params, ids.flat_values, max_norm))


@public
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """The rows of a ragged tensor by the group they belong to."""
    from gradtape.tf.ragged import stack_dynamic_partitions

    groups = stack_dynamic_partitions(data, partitions, num_partitions)
    return [groups[i] for i in range(int(num_partitions))]


HERE: dict[tuple[str, str], Callable[..., Any]] = {
    ("mask", "where"): where,
    ("array", "size"): size,
    ("array", "rank"): rank,
    ("sums", "add_n"): add_n,
    ("embedding", "embedding_lookup"): embedding_lookup,
    ("partition", "dynamic_partition"): dynamic_partition,
}
