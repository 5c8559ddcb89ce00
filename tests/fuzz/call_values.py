"""Hostile argument values: of wrong types, shapes, dtypes, sizes and structures."""

import collections
import math

import numpy as np

import gradtape as tf

Point = collections.namedtuple("Point", "x y")


class Plain:
    """An object without any protocol."""

    def __repr__(self):
        return "<plain>"


class Sized:
    """A sequence that is not a list."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [3.0, 4.0][i]


def make_loop(copies=1):
    """A list that contains itself, once or several times."""
    loop = []
    loop.extend([loop] * copies)
    return loop


def make_dict_loop():
    """A dict that contains itself."""
    loop = {}
    loop["a"] = loop
    return loop


def make_deep(levels):
    """A list nested to this depth."""
    value = [1.0]
    for _ in range(levels):
        value = [value]
    return value


def python_values(rng):
    """Objects of Python that are no numbers."""
    return [
        lambda: None,
        Plain,
        object,
        Sized,
        lambda: Plain,
        lambda: int,
        lambda: float,
        lambda: len,
        lambda: lambda x: x,
        lambda: lambda: None,
        lambda: lambda *xs: xs,
        lambda: (i for i in range(3)),
        lambda: iter([1, 2]),
        lambda: range(3),
        lambda: {1, 2},
        lambda: frozenset("ab"),
        lambda: slice(None),
        lambda: Ellipsis,
        lambda: NotImplemented,
        lambda: math,
        lambda: ValueError("a value"),
        lambda: Point(1, [2.0]),
        lambda: True,
        lambda: False,
        lambda: bytearray(b"ab"),
        lambda: memoryview(b"abcd"),
    ]


def text_values(rng):
    """Strings and bytes."""
    strings = [
        "",
        "x",
        "SAME",
        "a b",
        "ij,jk->ik",
        "->",
        "float32",
        "int",
        "\ud800",
        "é",
        "%s{}",
        "-1",
    ]
    byte_strings = [
        b"",
        b"x",
        b"\xff\xfe",
        b"\x00" * 5,
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff",
    ]
    return [
        lambda: rng.choice(strings),
        lambda: rng.choice(byte_strings),
        lambda: [["a"], ["b"]],
        lambda: ["a", 1],
    ]


def number_values(rng):
    """Numbers of unusual size or type."""
    floats = [0.0, -0.0, 0.5, -1.5, 1e300, -1e40, 1e-320, math.inf, -math.inf, math.nan]
    integers = [
        0,
        1,
        2,
        3,
        -1,
        -2,
        -3,
        7,
        100,
        2**31 - 1,
        2**31,
        -(2**31) - 1,
        2**40,
        2**63,
        2**64,
        -(2**70),
        10**400,
        10**5000,
    ]
    return [
        lambda: rng.choice(floats),
        lambda: rng.choice(integers),
        lambda: rng.choice(integers),
        lambda: 1j,
        lambda: np.float64(2.5),
        lambda: np.int8(-3),
        lambda: np.uint64(2**63),
        lambda: np.bool_(True),
        lambda: np.datetime64("2020-01-01"),
        lambda: np.void(b"ab"),
        lambda: np.longdouble(1.5),
    ]


def nested_values(rng):
    """Lists, tuples and dicts of unusual structure."""
    return [
        list,
        tuple,
        dict,
        make_loop,
        lambda: make_loop(2),
        make_dict_loop,
        lambda: (make_loop(),),
        lambda: make_deep(70),
        lambda: make_deep(3000),
        lambda: [[1], [2, 3]],
        lambda: [[1.0, 2.0], 3.0],
        lambda: [[], [1]],
        lambda: [None, 1],
        lambda: [1, "a"],
        lambda: [1, 2.5],
        lambda: [True, 2],
        lambda: [2**80, 1],
        lambda: [-1, -1],
        lambda: [0],
        lambda: [1, 2, 3],
        lambda: [0, 0],
        lambda: (2, 2),
        lambda: [1, 2, 2, 1],
        lambda: [object()],
        lambda: [[1.0, 2.0], [3.0, 4.0]],
        lambda: {"a": 1},
        lambda: {1: 2, "b": 3},
        lambda: [tf.constant(1.0), tf.constant([1.0])],
        lambda: [tf.constant(1.0), tf.constant(1)],
        lambda: [tf.constant(1.0), None],
        lambda: [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])],
    ]


def array_values(rng):
    """NumPy arrays of unusual dtype or shape."""
    return [
        lambda: np.array([None]),
        lambda: np.array([1, "a"], object),
        lambda: np.zeros((0,)),
        lambda: np.zeros((2, 0, 3), np.float32),
        lambda: np.zeros((1,) * 20),
        lambda: np.full((2, 2), np.nan),
        lambda: np.array([1, 2], ">i4"),
        lambda: np.array(["a", "bc"]),
        lambda: np.array([b"a"], "S3"),
        lambda: np.array(["2020-01-01"], "datetime64[D]"),
        lambda: np.zeros(2, [("a", int), ("b", float)]),
        lambda: np.array(2.0),
        lambda: np.ma.array([1.0, 2.0], mask=[True, False]),
        lambda: np.array([True, False]),
        lambda: np.array([2**63], np.uint64),
        lambda: np.array([1 + 2j]),
    ]


DTYPE_NAMES = [
    *("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "uint64"),
    *("complex64", "complex128", "bool", "string"),
]
SHAPES = [
    (),
    (0,),
    (1,),
    (2,),
    (3,),
    (2, 2),
    (2, 3),
    (3, 2),
    (0, 2),
    (1, 2, 3),
    (2, 0, 3),
    (1, 4, 4, 3),
    (1, 2, 2, 2, 2),
]


def make_random_tensor(rng):
    """A tensor of any dtype and a small shape."""
    dtype = tf.as_dtype(rng.choice(DTYPE_NAMES))
    shape = rng.choice(SHAPES)
    if dtype is tf.string:
        return tf.fill(shape, rng.choice(["", "a b", "é", "1.5"]))
    values = np.random.default_rng(rng.randrange(1000)).normal(size=shape) * rng.choice(
        [1, 3, 1000]
    )
    if rng.random() < 0.1:
        values = np.full(shape, rng.choice([np.nan, np.inf, -np.inf]))
    with np.errstate(all="ignore"):
        return tf.cast(tf.constant(values), dtype)


def tensor_values(rng):
    """Tensors, variables and other values with tensors in them."""
    pick = lambda: make_random_tensor(rng)  # noqa: E731
    return [
        pick,
        pick,
        pick,
        pick,
        pick,
        lambda: tf.Variable(make_random_tensor(rng)),
        lambda: tf.Variable([1.0, 2.0]),
        lambda: tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]),
        lambda: tf.sparse.from_dense(["", "a"]),
        lambda: tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 2]),
        lambda: tf.ragged.constant([[1.0], [2.0, 3.0]]),
        lambda: tf.ragged.constant([["a"], []]),
        lambda: tf.ragged.constant([[[1], []], []]),
        lambda: tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2])),
        lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])),
        lambda: tf.TensorArray(tf.float32, 2),
    ]


def type_values(rng):
    """Shapes, dtypes, specs and other descriptions."""
    return [
        lambda: tf.TensorShape([2, None]),
        lambda: tf.TensorShape(None),
        lambda: tf.TensorShape([2, 2]),
        lambda: tf.as_dtype(rng.choice(DTYPE_NAMES)),
        lambda: tf.resource,
        lambda: tf.variant,
        lambda: tf.qint8,
        lambda: np.float32,
        lambda: np.dtype("int16"),
        lambda: tf.TensorSpec([None, 2], tf.float32),
        lambda: tf.RaggedTensorSpec([2, None], tf.int32),
        lambda: tf.SparseTensorSpec([2, 2]),
        lambda: tf.data.Dataset.range(3),
        lambda: iter(tf.data.Dataset.range(2)),
        lambda: tf.GradientTape(),
        lambda: tf.random.Generator.from_seed(1),
        lambda: tf.Module(),
        lambda: tf.function(lambda x: x),
        lambda: tf.io.FixedLenFeature([2], tf.float32),
        lambda: tf.linalg.LinearOperatorIdentity(2),
    ]


FAMILIES = (
    python_values,
    text_values,
    number_values,
    nested_values,
    array_values,
    tensor_values,
    type_values,
)
WEIGHTS = (3, 2, 4, 4, 2, 4, 2)


def make_hostile_value(rng):
    """A value that hardly any function expects."""
    (family,) = rng.choices(FAMILIES, WEIGHTS)
    return rng.choice(family(rng))()


PLAUSIBLE = {
    "axis": lambda: 0,
    "axes": lambda: [0],
    "dtype": lambda: tf.float32,
    "shape": lambda: [2, 2],
    "name": lambda: None,
    "seed": lambda: [1, 2],
    "fn": lambda: lambda x: x,
    "func": lambda: lambda x: x,
    "pad": lambda: "SAME",
    "string": lambda: tf.constant(["a b", "c"]),
    "input": lambda: tf.ones([2, 3]),
    "image": lambda: tf.ones([1, 4, 4, 3]),
    "x": lambda: tf.ones([2, 2]),
    "y": lambda: tf.ones([2, 2]),
    "tensor": lambda: tf.ones([2, 2]),
    "ids": lambda: tf.constant([0, 1]),
    "indices": lambda: tf.constant([[0], [1]]),
    "num": lambda: 2,
    "size": lambda: 2,
    "sp": lambda: tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]),
    "strides": lambda: [1, 1, 1, 1],
    "values": lambda: [tf.ones([2]), tf.ones([2])],
    "dataset": lambda: tf.data.Dataset.range(3),
    "path": lambda: "file",
    "spec": lambda: tf.TensorSpec([2], tf.float32),
    "labels": lambda: tf.constant([0, 1]),
    "logits": lambda: tf.ones([2, 2]),
    "matrix": lambda: tf.eye(2),
}


def make_plausible_value(rng, parameter):
    """A value that a parameter of this name often takes; a hostile one if the name is unusual."""
    matches = [word for word in PLAUSIBLE if word in parameter]
    if not matches:
        return make_hostile_value(rng)
    return PLAUSIBLE[max(matches, key=len)]()
