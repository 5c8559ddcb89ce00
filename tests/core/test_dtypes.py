"""DType against TensorFlow 2.21."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from gradtape.core import dtypes
from gradtape.core.dtypes import as_dtype

FLOATS = ["float16", "float32", "float64", "bfloat16"]
TINY_FLOATS = [
    *("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e4m3b11fnuz", "float8_e5m2fnuz", "float4_e2m1fn"),
]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
TINY_INTS = ["int4", "uint4", "int2", "uint2"]
COMPLEX = ["complex64", "complex128"]
QUANTIZED = ["qint8", "quint8", "qint16", "quint16", "qint32"]
HANDLES = ["resource", "variant"]
NAMES = [
    *FLOATS,
    *TINY_FLOATS,
    *SIGNED,
    *UNSIGNED,
    *TINY_INTS,
    *COMPLEX,
    *QUANTIZED,
    *HANDLES,
    "bool",
    "string",
]
every_name = pytest.mark.parametrize("name", NAMES)


@every_name
def test_a_dtype_prints_as_in_tensorflow(name):
    dtype = getattr(dtypes, name)
    assert (dtype.name, repr(dtype), str(dtype)) == (name, f"tf.{name}", f"<dtype: '{name}'>")


@every_name
def test_predicates(name):
    dtype = getattr(dtypes, name)
    assert dtype.is_floating == (name in FLOATS + TINY_FLOATS)
    assert dtype.is_integer == (name in SIGNED + UNSIGNED + TINY_INTS)
    assert dtype.is_unsigned == (name in [*UNSIGNED, "uint4", "uint2"])
    assert dtype.is_complex == (name in COMPLEX)
    assert dtype.is_bool == (name == "bool")
    assert dtype.is_quantized == (name in QUANTIZED) == (dtype in dtypes.QUANTIZED_DTYPES)
    assert dtype.is_numpy_compatible == (name not in HANDLES)
    assert dtype.is_numeric == (name in FLOATS + SIGNED + UNSIGNED + COMPLEX + QUANTIZED)


@pytest.mark.parametrize(
    ("names", "enums"),
    [
        ("float32 float64 int32 uint8 int16 int8 string complex64 int64 bool", range(1, 11)),
        ("qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 complex128", range(11, 19)),
        ("float16 resource variant uint32 uint64 float8_e5m2 float8_e4m3fn", range(19, 26)),
        ("float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4 int2", range(26, 32)),
        ("uint2 float4_e2m1fn", range(32, 34)),
    ],
)
def test_enums_are_those_of_the_protocol_buffers(names, enums):
    assert [getattr(dtypes, name).as_datatype_enum for name in names.split()] == list(enums)
    assert [as_dtype(enum).name for enum in enums] == names.split()
    assert [hash(as_dtype(enum)) for enum in enums] == list(enums)


@pytest.mark.parametrize(
    ("names", "size"),
    [
        ("string resource variant", 0),
        ("bool int8 uint8 qint8 quint8 float8_e5m2 float4_e2m1fn int4 uint4 int2 uint2", 1),
        ("float16 bfloat16 int16 uint16 qint16 quint16", 2),
        ("float32 int32 uint32 qint32", 4),
        ("float64 int64 uint64 complex64", 8),
        ("complex128", 16),
    ],
)
def test_sizes(names, size):
    assert {getattr(dtypes, name).size for name in names.split()} == {size}


@pytest.mark.parametrize("name", FLOATS + SIGNED + UNSIGNED + COMPLEX)
def test_numpy_types(name):
    module = ml_dtypes if name == "bfloat16" else np
    assert getattr(dtypes, name).as_numpy_dtype is getattr(module, name)


def test_numpy_types_of_dtypes_that_are_not_plain_numbers():
    assert dtypes.bool.as_numpy_dtype is np.bool_
    assert dtypes.string.as_numpy_dtype is object
    assert dtypes.qint8.as_numpy_dtype == np.dtype([("qint8", np.int8)])
    assert dtypes.int4.as_numpy_dtype is ml_dtypes.int4
    with pytest.raises(KeyError):
        _ = dtypes.resource.as_numpy_dtype


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [
        (dtypes.float16, np.float16(-65504), np.float16(65504)),
        (dtypes.float32, np.finfo("f4").min, np.finfo("f4").max),
        (dtypes.float64, np.finfo("f8").min, np.finfo("f8").max),
        (dtypes.bfloat16, *(ml_dtypes.bfloat16(s * 3.3895314e38) for s in (-1, 1))),
        (dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn(-448), ml_dtypes.float8_e4m3fn(448)),
        (dtypes.int8, -128, 127),
        (dtypes.int64, -(2**63), 2**63 - 1),
        (dtypes.uint64, 0, 2**64 - 1),
        (dtypes.int4, -8, 7),
        (dtypes.uint2, 0, 3),
    ],
)
def test_least_and_greatest_values(dtype, least, greatest):
    assert (dtype.min, dtype.max) == (least, greatest)
    assert (type(dtype.min), type(dtype.max)) == (type(least), type(greatest))


@pytest.mark.parametrize("name", ["bool", "string", "complex64", "qint8", "variant"])
def test_dtypes_without_order_have_no_least_and_greatest_value(name):
    with pytest.raises(TypeError, match="Cannot find minimum value"):
        _ = getattr(dtypes, name).min
    with pytest.raises(TypeError, match="Cannot find maximum value"):
        _ = getattr(dtypes, name).max


def test_limits_are_those_of_images():
    assert dtypes.float32.limits == dtypes.float64.limits == (0, 1)
    assert (dtypes.uint8.limits, dtypes.int8.limits) == ((0, 255), (0, 127))
    assert dtypes.bool.limits == (0, True)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int4", "string", "complex64"])
def test_other_dtypes_have_no_limits(name):
    with pytest.raises(ValueError, match="does not have defined limits"):
        _ = getattr(dtypes, name).limits


def test_real_and_base_dtypes():
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.int8.real_dtype is dtypes.int8.base_dtype is dtypes.int8


def test_aliases():
    assert (dtypes.half, dtypes.double) == (dtypes.float16, dtypes.float64)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        ("bfloat16", "bfloat16"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        (1, "float32"),
        (np.float32, "float32"),
        (np.dtype("f4"), "float32"),
        (np.dtype(">f4"), "float32"),
        (np.dtype("S3"), "string"),
        (np.dtype("U3"), "string"),
        (np.dtype("O"), "string"),
        (np.dtypes.StringDType(), "string"),
        (np.longlong, "int64"),
        (np.ulonglong, "uint64"),
        (np.intc, "int32"),
        (np.int_, "int64"),
        (np.bytes_, "string"),
        (ml_dtypes.int4, "int4"),
        (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
        (np.dtype([("qint8", np.int8)]), "qint8"),
        (np.float32(1), "float32"),
        (np.zeros(2), "float64"),
        (np.array(["a"]), "string"),
    ],
)
def test_as_dtype_takes(value, name):
    assert as_dtype(value) is getattr(dtypes, name)


@pytest.mark.parametrize(
    "value",
    [
        *("int", "str", "object", "f4", "float33", int, str, bytes, complex, 0, 1000, None, [1]),
        *(np.dtype("M8[s]"), np.longdouble),
    ],
)
def test_as_dtype_does_not_take(value):
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`"):
        as_dtype(value)


@pytest.mark.parametrize("other", ["float32", "float", np.float32, np.dtype("f4"), float, 1])
def test_a_dtype_equals_what_names_it(other):
    assert dtypes.float32 == other
    assert other == dtypes.float32
    assert dtypes.float64 != other


@pytest.mark.parametrize(
    "other",
    [dtypes.float64, None, object(), "no such dtype", [1]],
)
def test_a_dtype_differs_from_all_else(other):
    assert dtypes.float32 != other
    assert other != dtypes.float32


def test_compatibility_is_equality():
    assert dtypes.float32.is_compatible_with("float32")
    assert not dtypes.float32.is_compatible_with(dtypes.float64)
    with pytest.raises(TypeError):
        dtypes.float32.is_compatible_with("no such dtype")


@every_name
def test_copies_are_the_same_object(name):
    dtype = getattr(dtypes, name)
    assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is as_dtype(dtype) is as_dtype(name) is dtype


def test_dtypes_are_constants():
    with pytest.raises(AttributeError):
        dtypes.float32.name = "mine"


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(HANDLES)))
def test_arrays_have_a_dtype(name):
    dtype = getattr(dtypes, name)
    assert dtypes.from_numpy_dtype(np.zeros(2, dtype.as_numpy_dtype).dtype) is dtype


@pytest.mark.parametrize(
    ("dtype", "name"),
    [("S3", "string"), ("U5", "string"), (">i4", "int32"), ("longlong", "int64")],
)
def test_unusual_arrays_have_a_dtype(dtype, name):
    assert dtypes.from_numpy_dtype(np.dtype(dtype)) is getattr(dtypes, name)


def test_arrays_of_dates_have_no_dtype():
    with pytest.raises(TypeError, match="M8"):
        dtypes.from_numpy_dtype(np.dtype("M8[s]"))


@pytest.mark.parametrize("name", FLOATS + TINY_FLOATS + SIGNED + UNSIGNED + COMPLEX)
def test_narrow_floats_accumulate_in_float32(name):
    dtype = np.dtype(getattr(dtypes, name).as_numpy_dtype)
    is_narrow = name in [*TINY_FLOATS, "float16", "bfloat16"]
    assert dtypes.accumulator(dtype) == (np.dtype("f4") if is_narrow else dtype)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(HANDLES)))
def test_gradients_flow_through_floats_and_complex_numbers(name):
    dtype = np.dtype(getattr(dtypes, name).as_numpy_dtype)
    assert dtypes.is_differentiable(dtype) == (name in FLOATS + COMPLEX)
