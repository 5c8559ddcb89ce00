"""Python's operators with TensorFlow's semantics. Importing this module installs them on Tensor."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from gradtape.core.convert import Handed, convert
from gradtape.core.dispatch import broadcastable
from gradtape.core.errors import Handed as RaggedDispatchPort
from gradtape.core.errors import InvalidArgumentError, hide_library, public
from gradtape.core.ragged.row_partition import Handed as RaggedMethodPort
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, eager
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
    binary,
    left_first,
    unary,
)


def both(name: str, *forms: Any, label: str, **options: Any) -> dict[str, Any]:
    """Make the methods `__name__` and `__rname__` of an elementwise operator."""
    operands = {"operands": options.pop("operands")} if "operands" in options else {}
    return {
        f"__{name}__": binary(
            *forms, label=label, reflected_method=f"__r{name}__", **operands, **options
        ),
        f"__r{name}__": binary(*forms, label=label, reflected=True, **options),
    }


def matrix_product(x: Any, y: Any) -> Any:
    """`x @ y`."""
    from gradtape.tf.api.linalg import matmul

    return matmul(x, y)


def matrix_product_reflected(y: Any, x: Any) -> Any:
    """`x @ y` where only `y` is a tensor."""
    from gradtape.tf.api.linalg import matmul

    try:
        return matmul(convert(x, y.dtype), y)
    except Exception as error:
        hide_library(error)
        raise


def comparison(function: Any, otherwise: bool) -> Any:
    """Make `==` or `!=`; it returns `otherwise` for None and for shapes that do not broadcast."""

    def compare(x: Any, y: Any) -> Any:
        if y is None:
            return otherwise
        try:
            return function(x, y)
        except InvalidArgumentError as error:
            shapes = [np.shape(convert(v)._array) for v in (x, y)]
            if broadcastable(shapes):
                hide_library(error)
                raise
            return eager(np.bool_(otherwise))
        except Exception as error:
            hide_library(error)
            raise

    return compare


OPERATORS: dict[str, Any] = {
    **both("add", e.add, NUMBERS, e.join_strings, STRING, label="AddV2", operands=left_first),
    **both("sub", e.subtract, NUMBERS, label="Sub"),
    **both("mul", e.multiply, NUMBERS, e.logical_and, BOOL, label="Mul"),
    "__truediv__": f.division(e.divide, "__truediv__", False, numbers=(False, True)),
    "__rtruediv__": f.division(e.divide, "__rtruediv__", True, reflected=True),
    **both("floordiv", e.floordiv, FLOATS, integer.floordiv_integers, INTEGERS, label="FloorDiv"),
    **both("mod", e.floormod, FLOATS, integer.floormod_integers, INTEGERS, label="FloorMod"),
    **both(
        "pow", e.power, INEXACT, integer.power_integers, SIGNED, label="Pow", numbers=(False, True)
    ),
    **both("and", e.logical_and, BOOL, integer.bitwise_and, INTEGERS, label="BitwiseAnd"),
    **both("or", e.logical_or, BOOL, integer.bitwise_or, INTEGERS, label="BitwiseOr"),
    **both("xor", e.logical_xor, BOOL, integer.bitwise_xor, INTEGERS, label="BitwiseXor"),
    "__matmul__": matrix_product,
    "__rmatmul__": matrix_product_reflected,
    "__neg__": f.negative,
    "__abs__": f.abs,
    "__invert__": unary(e.logical_not, BOOL, integer.invert, INTEGERS, label="Invert"),
    "__lt__": f.less,
    "__le__": f.less_equal,
    "__gt__": f.greater,
    "__ge__": f.greater_equal,
    "__eq__": comparison(f.equal, False),
    "__ne__": comparison(f.not_equal, True),
}

for name, function in OPERATORS.items():
    setattr(Tensor, name, function)


def sparse_product(x: Any, y: Any) -> Any:
    """Multiply a sparse tensor by a dense one."""
    from gradtape.tf.sparse.arithmetic import times

    return times(x, y, f.multiply)


def sparse_quotient(x: Any, y: Any) -> Any:
    """Divide a sparse tensor by a dense one."""
    from gradtape.tf.sparse.arithmetic import times

    return times(x, y, f.truediv)


SparseTensor.__mul__ = sparse_product  # type: ignore[operator]
SparseTensor.__truediv__ = sparse_quotient  # type: ignore[operator]


def for_ragged(function: Any) -> Any:
    """Find the implementation of a public function for ragged tensors, or None."""
    from gradtape.tf.ragged import dispatch

    return dispatch.found(function)


def ragged_operator(name: str) -> Any:
    """Make the operator method `name` of ragged tensors."""

    def operate(*operands: Any) -> Any:
        from gradtape.tf.ragged import dispatch

        return dispatch.operate(name, *operands)

    operate.__name__ = operate.__qualname__ = name
    return operate


for name in OPERATORS:
    if "matmul" not in name:
        setattr(RaggedTensor, name, ragged_operator(name))
RaggedDispatchPort.for_ragged = for_ragged
RaggedMethodPort.home = lambda: import_module("gradtape.tf.ragged.method")


# These two modules are imported on first use. Each then replaces the function below by its own.


@public
def getitem(tensor: Tensor, key: Any) -> Tensor:
    """Index a tensor."""
    from gradtape.tf.array import gather_slice

    return gather_slice.getitem(tensor, key)


def pack(parts: Any) -> Tensor:
    """Stack tensors."""
    from gradtape.tf.array import concat_split

    return concat_split.stacked(parts)


Tensor.__getitem__ = getitem  # type: ignore[method-assign]
Handed.stack = pack
Handed.cast = cast
