"""Raw pointwise ops on one tensor."""

ROWS = """
Abs(x: T) -> y: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8
    is tf.abs(x)

Acos(x: T) -> y: T
    where T: inexact
    is tf.acos(x)

Acosh(x: T) -> y: T
    where T: inexact
    is tf.acosh(x)

Angle(input: T, Tout: type=float32) -> output: Tout
    where T: complex=complex64
    is raw.array_part.cast_to(tf.math.angle(input), Tout)

Asin(x: T) -> y: T
    where T: inexact
    is tf.asin(x)

Asinh(x: T) -> y: T
    where T: inexact
    is tf.asinh(x)

Atan(x: T) -> y: T
    where T: inexact
    is tf.atan(x)

Atanh(x: T) -> y: T
    where T: inexact
    is tf.atanh(x)

BesselI0(x: T) -> y: T
    where T: floating
    is tf.math.bessel_i0(x)

BesselI0e(x: T) -> y: T
    where T: floating
    is tf.math.bessel_i0e(x)

BesselI1(x: T) -> y: T
    where T: floating
    is tf.math.bessel_i1(x)

BesselI1e(x: T) -> y: T
    where T: floating
    is tf.math.bessel_i1e(x)

BesselJ0(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_j0(x)

BesselJ1(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_j1(x)

BesselK0(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_k0(x)

BesselK0e(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_k0e(x)

BesselK1(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_k1(x)

BesselK1e(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_k1e(x)

BesselY0(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_y0(x)

BesselY1(x: T) -> y: T
    where T: floating
    is tf.math.special.bessel_y1(x)

Bucketize(input: T, boundaries: list(float)) -> output: int32
    where T: float32 | float64 | int32 | int64
    is raw.unique_bucketize.bucketize(input, boundaries)

Cast(x: SrcT, DstT: type, Truncate: bool=False) -> y: DstT
    where SrcT: any
    is tf.cast(x, DstT)

Ceil(x: T) -> y: T
    where T: floating
    is tf.math.ceil(x)

ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is tf.clip_by_value(t, clip_value_min, clip_value_max)

Complex(real: T, imag: T, Tout: type=complex64) -> out: Tout
    where T: float32 | float64=float32
    is tf.complex(real, imag)

ComplexAbs(x: T, Tout: type=float32) -> y: Tout
    where T: complex=complex64
    is tf.abs(x)

Conj(input: T) -> output: T
    where T: complex128 | complex64 | variant=complex64
    is tf.math.conj(input)

Cos(x: T) -> y: T
    where T: inexact
    is tf.cos(x)

Cosh(x: T) -> y: T
    where T: inexact
    is tf.cosh(x)

Dawsn(x: T) -> y: T
    where T: floating
    is tf.math.special.dawsn(x)

Digamma(x: T) -> y: T
    where T: floating
    is tf.math.digamma(x)

Erf(x: T) -> y: T
    where T: floating
    is tf.math.erf(x)

Erfc(x: T) -> y: T
    where T: floating
    is tf.math.erfc(x)

Erfinv(x: T) -> y: T
    where T: floating
    is tf.math.erfinv(x)

Exp(x: T) -> y: T
    where T: inexact
    is tf.exp(x)

Expint(x: T) -> y: T
    where T: floating
    is tf.math.special.expint(x)

Expm1(x: T) -> y: T
    where T: inexact
    is tf.math.expm1(x)

Floor(x: T) -> y: T
    where T: floating
    is tf.floor(x)

FresnelCos(x: T) -> y: T
    where T: floating
    is tf.math.special.fresnel_cos(x)

FresnelSin(x: T) -> y: T
    where T: floating
    is tf.math.special.fresnel_sin(x)

Imag(input: T, Tout: type=float32) -> output: Tout
    where T: complex=complex64
    is raw.array_part.cast_to(tf.math.imag(input), Tout)

Inv(x: T) -> y: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8
    is tf.math.reciprocal(x)

Invert(x: T) -> y: T
    where T: integer
    is tf.bitwise.invert(x)

IsFinite(x: T) -> y: bool
    where T: floating
    is tf.math.is_finite(x)

IsInf(x: T) -> y: bool
    where T: floating
    is tf.math.is_inf(x)

IsNan(x: T) -> y: bool
    where T: floating
    is tf.math.is_nan(x)

Lgamma(x: T) -> y: T
    where T: floating
    is tf.math.lgamma(x)

Log(x: T) -> y: T
    where T: inexact
    is tf.math.log(x)

Log1p(x: T) -> y: T
    where T: inexact
    is tf.math.log1p(x)

LogicalNot(x: bool) -> y: bool
    is tf.logical_not(x)

Ndtri(x: T) -> y: T
    where T: floating
    is tf.math.ndtri(x)

Neg(x: T) -> y: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8
    is tf.negative(x)

PopulationCount(x: T) -> y: uint8
    where T: integer
    is raw.array_part.count_bits(x)

Real(input: T, Tout: type=float32) -> output: Tout
    where T: complex=complex64
    is raw.array_part.cast_to(tf.math.real(input), Tout)

Reciprocal(x: T) -> y: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8
    is tf.math.reciprocal(x)

Rint(x: T) -> y: T
    where T: floating
    is tf.math.rint(x)

Round(x: T) -> y: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8
    is tf.round(x)

Rsqrt(x: T) -> y: T
    where T: inexact
    is tf.math.rsqrt(x)

Sigmoid(x: T) -> y: T
    where T: inexact
    is tf.sigmoid(x)

Sign(x: T) -> y: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8
    is tf.sign(x)

Sin(x: T) -> y: T
    where T: inexact
    is tf.sin(x)

Sinh(x: T) -> y: T
    where T: inexact
    is tf.sinh(x)

Spence(x: T) -> y: T
    where T: floating
    is tf.math.special.spence(x)

Sqrt(x: T) -> y: T
    where T: inexact
    is tf.sqrt(x)

Square(x: T) -> y: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.square(x)

Tan(x: T) -> y: T
    where T: inexact
    is tf.tan(x)

Tanh(x: T) -> y: T
    where T: inexact
    is tf.tanh(x)
"""
