"""tf.bitwise: bitwise logic and shifts of integers."""

from __future__ import annotations

from gradtape.ops import integer
from gradtape.tf.public_op import INTEGERS, binary, unary

bitwise_and = binary(integer.bitwise_and, INTEGERS, label="BitwiseAnd")
bitwise_or = binary(integer.bitwise_or, INTEGERS, label="BitwiseOr")
bitwise_xor = binary(integer.bitwise_xor, INTEGERS, label="BitwiseXor")
invert = unary(integer.invert, INTEGERS, label="Invert")
left_shift = binary(integer.left_shift, INTEGERS, label="LeftShift", numbers=(False, False))
right_shift = binary(integer.right_shift, INTEGERS, label="RightShift", numbers=(False, False))
