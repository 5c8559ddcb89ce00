"""Python's operators with TensorFlow's semantics. Importing this module installs them on Tensor."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.dispatch import can_broadcast
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.ports import ConversionPort, RaggedPort
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.ops import elementwise as e
from gradtape.ops import integer
from gradtape.tf.math import elementwise as f
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import (
    BOOL,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    SIGNED,
    STRING,
    convert_pair_left_first,
    make_binary_op,
    make_unary_op,
)


def make_operator_pair(name: str, *forms: Any, label: str, **options: Any) -> dict[str, Any]:
    """Make the methods `__name__` and `__rname__` of an elementwise operator."""
    operands = {"operands": options.pop("operands")} if "operands" in options else {}
    return {
        f"__{name}__": make_binary_op(
            *forms, label=label, reflected_method=f"__r{name}__", **operands, **options
        ),
        f"__r{name}__": make_binary_op(*forms, label=label, reflected=True, **options),
    }


def load_matmul(x: Any, y: Any) -> Any:
    """`x @ y`; the import replaces this operator."""
    from gradtape.tf.linalg.matmul import apply_matmul

    try:
        return apply_matmul(x, y)
    except Exception as error:
        hide_library_frames(error)
        raise


def load_reflected_matmul(y: Any, x: Any) -> Any:
    """`x @ y` where only `y` is a tensor; the import replaces this operator."""
    from gradtape.tf.linalg.matmul import apply_reflected_matmul

    try:
        return apply_reflected_matmul(y, x)
    except Exception as error:
        hide_library_frames(error)
        raise


def make_comparison(function: Any, otherwise: bool) -> Any:
    """Make `==` or `!=`; it returns `otherwise` for None and for shapes that do not broadcast."""

    def compare(x: Any, y: Any) -> Any:
        if y is None:
            return otherwise
        try:
            return function(x, y)
        except InvalidArgumentError as error:
            shapes = [np.shape(convert(v)._array) for v in (x, y)]
            if can_broadcast(shapes):
                hide_library_frames(error)
                raise
            return make_tensor(np.bool_(otherwise))
        except Exception as error:
            hide_library_frames(error)
            raise

    return compare


TENSOR_OPERATORS: dict[str, Any] = {
    **make_operator_pair(
        "add",
        e.add,
        NUMBERS,
        e.join_strings,
        STRING,
        label="AddV2",
        operands=convert_pair_left_first,
    ),
    **make_operator_pair("sub", e.subtract, NUMBERS, label="Sub"),
    **make_operator_pair("mul", e.multiply, NUMBERS, e.logical_and, BOOL, label="Mul"),
    "__truediv__": f.make_division(e.divide, "__truediv__", False, numbers=(False, True)),
    "__rtruediv__": f.make_division(e.divide, "__rtruediv__", True, reflected=True),
    **make_operator_pair(
        "floordiv", e.floordiv, FLOATS, integer.floordiv_integers, INTEGERS, label="FloorDiv"
    ),
    **make_operator_pair(
        "mod", e.floormod, FLOATS, integer.floormod_integers, INTEGERS, label="FloorMod"
    ),
    **make_operator_pair(
        "pow", e.power, INEXACT, integer.power_integers, SIGNED, label="Pow", numbers=(False, True)
    ),
    **make_operator_pair(
        "and", e.logical_and, BOOL, integer.bitwise_and, INTEGERS, label="BitwiseAnd"
    ),
    **make_operator_pair("or", e.logical_or, BOOL, integer.bitwise_or, INTEGERS, label="BitwiseOr"),
    **make_operator_pair(
        "xor", e.logical_xor, BOOL, integer.bitwise_xor, INTEGERS, label="BitwiseXor"
    ),
    "__matmul__": load_matmul,
    "__rmatmul__": load_reflected_matmul,
    "__neg__": f.negative,
    "__abs__": f.abs,
    "__invert__": make_unary_op(e.logical_not, BOOL, integer.invert, INTEGERS, label="Invert"),
    "__lt__": f.less,
    "__le__": f.less_equal,
    "__gt__": f.greater,
    "__ge__": f.greater_equal,
    "__eq__": make_comparison(f.equal, False),
    "__ne__": make_comparison(f.not_equal, True),
}

for name, function in TENSOR_OPERATORS.items():
    setattr(Tensor, name, function)


def apply_sparse_operator(name: str, x: Any, y: Any) -> Any:
    """Apply `__mul__` or `__truediv__` to a sparse tensor and a dense one."""
    from gradtape.tf.sparse.arithmetic import apply_with_dense

    return apply_with_dense(x, y, f.multiply if name == "__mul__" else f.truediv)


def find_sparse_function(function: Any) -> Any:
    """The sparse version of a public function, or None."""
    from gradtape.tf.sparse.dispatch import find_sparse_implementation

    return find_sparse_implementation(function)


def find_ragged_function(function: Any) -> Any:
    """Find the implementation of a public function for ragged tensors, or None."""
    from gradtape.tf.ragged import dispatch

    return dispatch.find_ragged_implementation(function)


def apply_ragged_operator(name: str, *operands: Any) -> Any:
    """Apply an operator to operands of which one is ragged."""
    from gradtape.tf.ragged import dispatch

    return dispatch.apply_operator(name, *operands)


RaggedPort.supply(
    find_function=find_ragged_function,
    find_sparse_function=find_sparse_function,
    apply_operator=apply_ragged_operator,
    apply_sparse_operator=apply_sparse_operator,
    method_module=lambda: import_module("gradtape.tf.ragged.method"),
)


# These two modules are imported on first use. Indexing then replaces the function below.


@public
def index_tensor(tensor: Tensor, key: Any) -> Tensor:
    """Index a tensor."""
    from gradtape.tf.array.slice import getitem

    return getitem(tensor, key)


def stack_tensors(parts: Any) -> Tensor:
    """Stack tensors."""
    from gradtape.tf.array import concat_split

    return concat_split.stack_tensors(parts)


Tensor.__getitem__ = index_tensor  # type: ignore[method-assign]
ConversionPort.supply(stack=stack_tensors, cast=cast)
