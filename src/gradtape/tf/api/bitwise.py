"""tf.bitwise: bitwise logic and shifts of integers."""

from __future__ import annotations

from gradtape.ops import integer
from gradtape.tf.example.number import BITWISE
from gradtape.tf.public_op import (
    INTEGERS,
    add_examples,
    make_binary_op,
    make_unary_op,
    name_functions,
)

bitwise_and = make_binary_op(integer.bitwise_and, INTEGERS, label="BitwiseAnd")
bitwise_or = make_binary_op(integer.bitwise_or, INTEGERS, label="BitwiseOr")
bitwise_xor = make_binary_op(integer.bitwise_xor, INTEGERS, label="BitwiseXor")
invert = make_unary_op(integer.invert, INTEGERS, label="Invert")
left_shift = make_binary_op(integer.left_shift, INTEGERS, label="LeftShift", numbers=(False, False))
right_shift = make_binary_op(
    integer.right_shift, INTEGERS, label="RightShift", numbers=(False, False)
)

name_functions(__name__, globals())

add_examples(globals(), BITWISE)
