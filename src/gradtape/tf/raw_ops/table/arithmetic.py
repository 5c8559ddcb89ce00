"""Raw pointwise ops on several tensors."""

ROWS = """
Add(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | string | uint8
    is tf.add(x, y)

AddV2(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.add(x, y)

ApproximateEqual(x: T, y: T, tolerance: float=1e-05) -> z: bool
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is tf.less(tf.abs(tf.subtract(x, y)), tolerance)

Atan2(y: T, x: T) -> z: T
    where T: floating
    is tf.atan2(y, x)

Betainc(a: T, b: T, x: T) -> z: T
    where T: float32 | float64
    is tf.math.betainc(a, b, x)

BitwiseAnd(x: T, y: T) -> z: T
    where T: integer
    is tf.bitwise.bitwise_and(x, y)

BitwiseOr(x: T, y: T) -> z: T
    where T: integer
    is tf.bitwise.bitwise_or(x, y)

BitwiseXor(x: T, y: T) -> z: T
    where T: integer
    is tf.bitwise.bitwise_xor(x, y)

Cross(a: T, b: T) -> product: T
    where T: real
    is tf.linalg.cross(a, b)

Div(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is raw.array_part.divide_truncated(x, y)

DivNoNan(x: T, y: T) -> z: T
    where T: inexact
    is tf.math.divide_no_nan(x, y)

Equal(x: T, y: T, incompatible_shape_error: bool=True) -> z: bool
    where T: any
    is tf.equal(x, y) if incompatible_shape_error else
    tf.convert_to_tensor(tf.convert_to_tensor(x) == y)

FloorDiv(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.math.floordiv(x, y)

FloorMod(x: T, y: T) -> z: T
    where T: real
    is tf.math.floormod(x, y)

Greater(x: T, y: T) -> z: bool
    where T: real
    is tf.greater(x, y)

GreaterEqual(x: T, y: T) -> z: bool
    where T: real
    is tf.greater_equal(x, y)

Igamma(a: T, x: T) -> z: T
    where T: floating
    is tf.math.igamma(a, x)

IgammaGradA(a: T, x: T) -> z: T
    where T: float32 | float64
    is raw.gradient.igamma_grad_a(a, x)

Igammac(a: T, x: T) -> z: T
    where T: floating
    is tf.math.igammac(a, x)

InvGrad(y: T, dy: T) -> z: T
    where T: inexact
    is raw.pointwise_gradient.reciprocal_grad(y, dy)

LeftShift(x: T, y: T) -> z: T
    where T: integer
    is tf.bitwise.left_shift(x, y)

Less(x: T, y: T) -> z: bool
    where T: real
    is tf.less(x, y)

LessEqual(x: T, y: T) -> z: bool
    where T: real
    is tf.less_equal(x, y)

LogicalAnd(x: bool, y: bool) -> z: bool
    is tf.logical_and(x, y)

LogicalOr(x: bool, y: bool) -> z: bool
    is tf.logical_or(x, y)

Maximum(x: T, y: T) -> z: T
    where T: real
    is tf.maximum(x, y)

Minimum(x: T, y: T) -> z: T
    where T: real
    is tf.minimum(x, y)

Mod(x: T, y: T) -> z: T
    where T: bfloat16 | float16 | float32 | float64 | int32 | int64
    is tf.truncatemod(x, y)

Mul(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.multiply(x, y)

MulNoNan(x: T, y: T) -> z: T
    where T: inexact
    is tf.math.multiply_no_nan(x, y)

NextAfter(x1: T, x2: T) -> output: T
    where T: float32 | float64=float32
    is tf.math.nextafter(x1, x2)

NotEqual(x: T, y: T, incompatible_shape_error: bool=True) -> z: bool
    where T: any
    is tf.not_equal(x, y) if incompatible_shape_error else
    tf.convert_to_tensor(tf.convert_to_tensor(x) != y)

Polygamma(a: T, x: T) -> z: T
    where T: float32 | float64
    is tf.math.polygamma(a, x)

Pow(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8
    is tf.pow(x, y)

RealDiv(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.realdiv(x, y)

ReciprocalGrad(y: T, dy: T) -> z: T
    where T: inexact
    is raw.pointwise_gradient.reciprocal_grad(y, dy)

RightShift(x: T, y: T) -> z: T
    where T: integer
    is tf.bitwise.right_shift(x, y)

RsqrtGrad(y: T, dy: T) -> z: T
    where T: inexact
    is raw.pointwise_gradient.rsqrt_grad(y, dy)

SigmoidGrad(y: T, dy: T) -> z: T
    where T: inexact
    is raw.pointwise_gradient.sigmoid_grad(y, dy)

SqrtGrad(y: T, dy: T) -> z: T
    where T: inexact
    is raw.pointwise_gradient.sqrt_grad(y, dy)

SquaredDifference(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int32 | int64
    is tf.math.squared_difference(x, y)

Sub(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.subtract(x, y)

TanhGrad(y: T, dy: T) -> z: T
    where T: inexact
    is raw.pointwise_gradient.tanh_grad(y, dy)

TruncateDiv(x: T, y: T) -> z: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.truncatediv(x, y)

TruncateMod(x: T, y: T) -> z: T
    where T: bfloat16 | float16 | float32 | float64 | int32 | int64
    is tf.truncatemod(x, y)

Xdivy(x: T, y: T) -> z: T
    where T: inexact
    is tf.math.xdivy(x, y)

Xlog1py(x: T, y: T) -> z: T
    where T: inexact
    is tf.math.xlog1py(x, y)

Xlogy(x: T, y: T) -> z: T
    where T: inexact
    is tf.math.xlogy(x, y)

Zeta(x: T, q: T) -> z: T
    where T: float32 | float64
    is tf.math.zeta(x, q)
"""
