"""Products and quotients of `tf.math` that are zero, not NaN, where one operand is zero."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.ops import no_nan
from gradtape.ops.elementwise import ones_like
from gradtape.tf.example.number import NO_NAN
from gradtape.tf.math.elementwise import make_division
from gradtape.tf.public_op import (
    INEXACT,
    add_examples,
    check_dtype,
    convert_pair_strict,
    make_binary_op,
    name_functions,
)

NO_NUMBERS = (False, False)

multiply_no_nan = make_binary_op(
    no_nan.multiply_no_nan,
    INEXACT,
    label="MulNoNan",
    operands=convert_pair_strict,
    numbers=NO_NUMBERS,
)
xlogy = make_binary_op(no_nan.xlogy, INEXACT, label="Xlogy", numbers=NO_NUMBERS)
xlog1py = make_binary_op(no_nan.xlog1py, INEXACT, label="Xlog1py", numbers=NO_NUMBERS)
xdivy = make_binary_op(no_nan.xdivy, INEXACT, label="Xdivy", numbers=NO_NUMBERS)

divide_no_nan = make_division(no_nan.divide_no_nan, "divide_no_nan", True, numbers=NO_NUMBERS)


@public
def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """One over `x`; zero where `x` is zero.

    Args:
        x: a tensor of floats or complex numbers.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    tensor = check_dtype("DivNoNan", convert(x), INEXACT)
    return no_nan.divide_no_nan(ones_like(tensor), tensor)


name_functions(__name__, globals())

add_examples(globals(), NO_NAN)
