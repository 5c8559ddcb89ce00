"""Dispatch of public functions to their implementations for sparse tensors.

A public function that receives a sparse tensor fails with `SparseNotDense` and is then looked up
here. So dispatch costs nothing for plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor
from gradtape.tf.math import bincount as dense

# The functions of one argument that TensorFlow applies to the values of a sparse tensor
VALUES_FUNCTIONS = {
    "math.elementwise": """
        abs asin asinh atan atanh negative sign sin sqrt square tan tanh
    """,
    "math.special_function": "erf",
    "math.special": "bessel_i0e bessel_i1e",
}
# Cache of lookups, by undecorated function
SPARSE_DISPATCH: dict[Any, Callable[..., Any]] = {}


def find_sparse_implementation(function: Any) -> Callable[..., Any] | None:
    """The implementation of an undecorated public function for sparse tensors, or None."""
    if not SPARSE_DISPATCH:
        register_sparse_functions()
    return SPARSE_DISPATCH.get(function)


def register_sparse_functions() -> None:
    """Fill the table of sparse functions."""
    for home, names in VALUES_FUNCTIONS.items():
        module = import_module(f"gradtape.tf.{home}")
        for name in names.split():
            function = getattr(module, name)
            SPARSE_DISPATCH[getattr(function, "__wrapped__", function)] = make_values_function(
                function
            )
    SPARSE_DISPATCH[dense.bincount.__wrapped__] = bincount  # type: ignore[attr-defined]


def make_values_function(function: Any) -> Callable[..., Any]:
    """Make a function that applies `function` to the values of a sparse tensor."""

    @public
    def apply(*args: Any, **kwargs: Any) -> SparseTensor:
        sparse = args[0] if args else next(v for v in kwargs.values() if v is not None)
        return SparseTensor(sparse.indices, function(sparse.values), sparse.dense_shape)

    return apply


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
) -> Tensor:
    """Number of occurrences of each integer among the stored values, in each row if axis=-1."""
    share = weights.values if isinstance(weights, SparseTensor) else weights
    if not isinstance(arr, SparseTensor):
        raise ValueError(
            f"bincount: weights may be sparse only if arr is. Received {type(arr).__name__}."
        )
    if share is not None and convert(share)._array.shape != arr.values._array.shape:
        raise InvalidArgumentError(
            "bincount: weights must have a value for each value of arr. Received shapes "
            f"{list(convert(share)._array.shape)} and {list(arr.values._array.shape)}."
        )
    if axis not in (None, 0, -1):
        raise ValueError(f"bincount: Unsupported value for argument axis={axis}. Use 0 or -1.")
    options = {"dtype": dtype, "binary_output": binary_output}
    if axis in (None, 0) or len(arr.shape) == 1:
        return dense.bincount(arr.values, share, minlength, maxlength, **options)
    rows = arr.indices[:, 0]
    lines = arr.shape[0]
    return dense.count_by_row(arr.values, rows, lines, share, minlength, maxlength, **options)
