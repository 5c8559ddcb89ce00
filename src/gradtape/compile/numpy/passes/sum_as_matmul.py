"""Sums as matrix products: for small matrices BLAS takes half the time of a reduction.

Matrix products that only select rows, such as the first ones of a jacobian, become `take`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from gradtape.compile.numpy.program import NumpyCall, Operand, Program, constant_value
from gradtape.graph.graph import Constant

MAX_SUMMED_ELEMENTS = 1 << 14  # elements; above, NumPy's pairwise summation is more accurate


def use_matmul_for_sums(program: Program) -> Program:
    """Rewrite sums of vectors, and of small float matrices along one axis, as products with ones.

    A product with a constant whose rows are rows of an identity selects rows of the other factor.
    """
    names: dict[int, Operand] = {}
    kept = []
    for call in program.calls:
        call = call.substitute(names)
        rows = find_row_selection(call)
        if rows is None:
            kept.append(as_matmul(call, program))
        elif np.array_equal(rows, np.arange(program.specs[call.args[1]].shape[0])):
            names[call.outs[0]] = call.args[1]
        else:
            args = (call.args[1], Constant(rows), Constant(0))
            kept.append(NumpyCall("call", "take", args, call.outs))
    return program.with_calls(kept, names)


def find_row_selection(call: NumpyCall) -> Any:
    """The rows of its second operand that a product selects; None if it is another product."""
    if call.kind != "product" or call.fn is not np.dot or type(call.args[1]) is not int:
        return None
    if type(call.args[0]) is not Constant or np.ndim(call.args[0].raw) != 2:
        return None
    matrix = call.args[0].raw
    if np.count_nonzero(matrix) != len(matrix) or not len(matrix):
        return None
    rows = matrix.argmax(1)
    return rows if (matrix[np.arange(len(matrix)), rows] == 1).all() else None


def as_matmul(call: NumpyCall, program: Program) -> NumpyCall:
    """A sum as a matrix product, where that is faster; other calls unchanged."""
    if call.kind != "reduce" or call.fn is not np.add or len(call.args) > 4:
        return call
    x = call.args[0]
    if type(x) is not int:
        return call
    known = program.specs[x]
    axis, dtype, keepdims = [constant_value(a) for a in call.args[1:]]
    if (
        dtype is not None
        or known.dtype.char not in "fd"
        or not 0 < known.size <= MAX_SUMMED_ELEMENTS
    ):
        return call
    if len(known.shape) == 1 and axis == 0 and not keepdims:
        return NumpyCall(
            "product", np.dot, (x, constant_ones((known.size,), known.dtype)), call.outs
        )
    if len(known.shape) == 2 and axis == 0 and not keepdims:
        return NumpyCall(
            "product", np.dot, (constant_ones(known.shape[:1], known.dtype), x), call.outs
        )
    if len(known.shape) == 2 and axis == 1:
        shape = (known.shape[1], 1) if keepdims else known.shape[1:]
        return NumpyCall("product", np.dot, (x, constant_ones(shape, known.dtype)), call.outs)
    return call


@lru_cache(maxsize=256)
def constant_ones(shape: tuple[int, ...], dtype: Any) -> Constant:
    """A constant of ones."""
    array = np.ones(shape, dtype)
    array.flags.writeable = False
    return Constant(array)
