"""experimental_enable_numpy_behavior: promotion in operators, NumPy's methods and indexing."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.tf.numpy.numpy_behavior import disable_numpy_behavior

tnp = tf.experimental.numpy
X = np.arange(24).reshape(2, 3, 4)


@pytest.fixture(autouse=True)
def _enabled():
    tnp.experimental_enable_numpy_behavior()
    yield
    disable_numpy_behavior()


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("f + i", "float64"),
        ("i + l", "int64"),
        ("h + i", "float64"),
        ("u * i", "int32"),
        ("b + i", "int32"),
        ("b * b", "bool"),
        ("f + 2", "float32"),
        ("i + 2.5", "float64"),
        ("2.5 - i", "float64"),
        ("h + 2.5", "float16"),
        ("f + np.float64(2)", "float64"),
        ("np.ones(2) + f", "float64"),
        ("f + [1, 2]", "float32"),
        ("v + i", "float64"),
        ("i + v", "float64"),
        ("i // f", "float64"),
        ("i < f", "bool"),
        ("i == f", "bool"),
        ("i & l", "int64"),
        ("i ** 2", "int32"),
        ("f + f", "float32"),
        ("m @ f", "float64"),
    ],
)
def test_operators_promote(expression, dtype):
    given = {
        "f": tf.constant([1.5, 2.0]),
        "i": tf.constant([1, 2]),
        "l": tf.constant([1, 2], tf.int64),
        "h": tf.constant([1.0, 2.0], tf.float16),
        "u": tf.constant([1, 2], tf.uint8),
        "b": tf.constant([True, False]),
        "v": tf.Variable([1.0, 2.0]),
        "m": tf.constant([[1, 2], [3, 4]]),
    }
    if expression == "m @ f":
        given["f"] = given["f"][:, None]
    arrays = {name: value.numpy() for name, value in given.items()}
    answer = eval(expression, {"np": np}, given)
    assert answer.dtype.name == dtype
    np.testing.assert_allclose(answer, eval(expression, {"np": np}, arrays))


def test_functions_do_not_promote():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(tf.constant([1.0]), tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        _ = tf.constant([True]) + tf.constant([True])
    assert round(tf.constant([1.26]), 1).numpy() == np.float32(1.3)


@pytest.mark.parametrize(
    "expression",
    [
        "x.T",
        "x.size",
        "x.reshape(-1)",
        "x.reshape(4, -1)",
        "x.reshape((4, 6))",
        "x.astype(np.float32)",
        "x.astype('int32')",
        "x.astype(float)",
        "x.ravel()",
        "x.flatten()",
        "x.transpose()",
        "x.transpose((1, 0, 2))",
        "x.clip(2, 5)",
        "x.max()",
        "x.max(axis=1)",
        "x.min(0)",
        "x.mean()",
        "x.tolist()",
        "+x",
        "x[1, None, 1:3, ...]",
        "x[:, (True, False, True)]",
        "x[1, (0, 0, 1), np.array([0, 1, 1])]",
        "x[[0, 1, -1]]",
        "x[x > 5]",
        "x[..., [0, 2]]",
        "x[:, 1]",
        "x[-1, ::-1]",
        "x[np.array([0, 1]), 1]",
        "x[np.array([[0], [1]]), :, [1, 2, 3]]",
        "x[:, [0, 2], None]",
        "x[0, :, [1, 2]]",
        "x[np.array([[True, False, True], [False, True, False]])]",
        "x[1:, [0, 1], ::2]",
    ],
)
def test_methods_and_indices_are_those_of_numpy(expression):
    answer = eval(expression, {"np": np, "x": tf.constant(X)})
    wanted = eval(expression, {"np": np, "x": X})
    np.testing.assert_allclose(answer, wanted)
    assert np.asarray(answer).dtype == np.asarray(wanted).dtype


def test_indexing_and_methods_work_under_a_tape_and_in_a_function():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(x):
        return (w[[1, 0]] * x).reshape(-1).max()

    for _ in range(3):
        with tf.GradientTape() as tape:
            y = f(tf.constant([1, 2]))
        assert y.dtype == tf.float64
        np.testing.assert_allclose(tape.gradient(y, w), [[0.0, 0.0], [0.0, 2.0]])


def test_prefer_float32_changes_python_floats_only_and_modes_are_checked():
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    names = [
        value.dtype.name
        for value in (
            tnp.asarray(1.0),
            tnp.asarray(1),
            tnp.add(1.0, 2.0),
            tnp.linspace(0, 1, 3),
            tnp.full([2], 1.0),
            tnp.arange(3.0),
            tnp.ones(2),
            tnp.asarray(np.ones(2)),
            tf.constant([1]) + 2.5,
        )
    ]
    wanted = ["float32", "int64", *["float32"] * 4, *["float64"] * 3]
    assert names == wanted
    assert tnp.result_type(1.0, 2) == tf.float32
    tnp.experimental_enable_numpy_behavior()
    assert tnp.asarray(1.0).dtype == tf.float64
    for mode in ("safe", "all"):
        with pytest.raises(NotImplementedError, match="legacy"):
            tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    with pytest.raises(ValueError, match="dtype_conversion_mode"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="none")


def test_numpy_behavior_can_be_disabled():
    disable_numpy_behavior()
    with pytest.raises(AttributeError, match="reshape"):
        _ = tf.constant([1.0]).reshape
    with pytest.raises(tf.errors.InvalidArgumentError):
        _ = tf.constant([1.0]) + tf.constant([1])


def test_variables_are_indices():
    rows = tf.Variable([1, 0, 1], dtype=tf.int64)
    np.testing.assert_array_equal(tf.constant(X)[rows, :, 0], X[[1, 0, 1], :, 0])
    np.testing.assert_array_equal(tf.constant(X)[tf.Variable(1)], X[1])
