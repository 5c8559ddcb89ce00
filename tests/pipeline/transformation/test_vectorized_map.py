"""Vectorized map: functions run on whole batches, with the same bits and errors."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.pipeline.transformation.vectorized_map import (
    EXACT_OPS,
    JOINING_OPS,
    TRAILING_AXES_OPS,
)
from gradtape.pipeline.user_function import UserFunction

Dataset = tf.data.Dataset

FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.5, 2.5, 1e-45, -1e-40, 3.4e38, np.inf, -np.inf, np.nan, 0.1, 7.0, -3.0, 0.5]
)
FLOATS = np.stack([np.roll(FLOATS, i) for i in range(45)])
INTEGERS = np.arange(45 * 15).reshape(45, 15).astype(np.int32) * 7919 - 100000


def is_rowwise(function, *components):
    """Whether the function's graph may run on a batch."""
    traced = UserFunction(function)
    element = tuple(tf.constant(c[0]) for c in components)
    traced.apply(element)
    (plan,) = traced.plans.values()
    return plan is not None and plan.batch_function is not None


def bits(batches):
    """The bytes of all components, with all NaNs made equal."""
    leaves = [leaf.numpy() for batch in batches for leaf in tf.nest.flatten(batch)]
    return [
        (np.where(a != a, 0, a).tobytes(), (a != a).tobytes(), a.dtype, a.shape) for a in leaves
    ]


def compare(function, *components, rowwise=True):
    """Compare vectorized batches with elements stacked by NumPy."""
    assert is_rowwise(function, *components) is rowwise
    dataset = Dataset.from_tensor_slices(components).map(function)
    singly = list(dataset)  # traces
    together = list(dataset.shuffle(7, seed=1).batch(8))
    order = list(Dataset.range(len(components[0])).shuffle(7, seed=1).batch(8))
    for batch, indices in zip(together, order, strict=True):
        alone = [tf.nest.flatten(singly[int(i)]) for i in indices]
        expected = [
            np.stack([leaf.numpy() for leaf in column]) for column in zip(*alone, strict=True)
        ]
        assert bits([batch]) == bits([[tf.constant(e) for e in expected]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1.5, x - x[::-1], x * 0.1, x / 3.0, -x, x * x, tf.square(x), 1.0 / x),
        lambda x: (tf.sqrt(x), tf.abs(x), tf.sign(x), tf.floor(x), tf.math.ceil(x), tf.round(x)),
        lambda x: (tf.maximum(x, 0.0), tf.minimum(x, -0.0), tf.nn.relu(x), tf.nn.relu6(x)),
        lambda x: (tf.clip_by_value(x, -1.0, 1.0), tf.where(x > 0, x, -1.0), x[0], x[0] * x),
        lambda x: (x > 0, x == x, tf.math.is_nan(x), tf.math.is_finite(x), (x > 0) & (x < 1)),
        lambda x: (
            tf.cast(x, tf.float64),
            tf.cast(x, tf.float16),
            tf.zeros_like(x),
            tf.constant(3),
        ),
        lambda x: (tf.reshape(x, (3, 5)), tf.transpose(tf.reshape(x, (5, 3))), x[1:9:2], x[None]),
        lambda x: (tf.concat([x, [1.0]], 0), tf.stack([x, x * 0.5]), tf.pad(x, [[1, 2]])),
        lambda x: (tf.reverse(x, [0]), tf.split(x, 3)[1], tf.unstack(x)[2], tf.tile(x, [2])),
        lambda x: (tf.argmax(x), tf.gather(x, [3, 1]), tf.broadcast_to(x, (2, 15)), x[2:3] + x),
    ],
)
def test_float_results_are_bit_identical_to_single_elements(function, dtype):
    def cast_as_given(x):
        return function(x)

    if dtype == np.float32:
        compare(cast_as_given, FLOATS.astype(dtype))
    else:
        with np.errstate(over="ignore"):
            x = FLOATS.astype(dtype)
        compare(lambda x: function(tf.cast(x, tf.float32)), x)


def test_integers_and_scalars():
    labels = np.arange(45, dtype=np.int64)
    table = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    compare(
        lambda x, y: (
            x % 10, x // 7, tf.cast(x, tf.float32) / 255.0, tf.one_hot(y % 10, 10),
            tf.bitwise.bitwise_and(x, 255), y + 1, tf.cast(y, tf.float64), tf.gather(table, y % 10),
            tf.cast(x, tf.float32) * tf.cast(y, tf.float32), tf.reduce_any(x > 0),
        ),
        INTEGERS,
        labels,
    )  # fmt: skip


def test_structures_keep_their_form():
    data = {"b": FLOATS.astype(np.float32), "a": (INTEGERS, np.arange(45))}
    dataset = Dataset.from_tensor_slices(data).map(
        lambda e: {"z": e["b"] * 2.0, "y": {"x": e["a"][0] + 1}, "k": [e["a"][1]] * 2}
    )
    singly = list(dataset)
    (batch,) = list(dataset.batch(45))
    assert list(batch) == ["z", "y", "k"] == list(singly[0])
    np.testing.assert_array_equal(batch["z"], np.stack([e["z"] for e in singly]))
    np.testing.assert_array_equal(batch["y"]["x"], INTEGERS + 1)
    assert batch["k"].shape == (45, 2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.exp(x),
        lambda x: tf.reduce_sum(x),
        lambda x: tf.linalg.matvec(tf.ones((2, 15)), x),
        lambda x: tf.cast(x, tf.int32),  # out-of-range values give arbitrary integers
        lambda x: x + tf.random.normal((15,)),
        lambda x: x * 2.0 if tf.reduce_max(x) > 1e30 else x,
        lambda x: tf.py_function(lambda a: a, [x], tf.float32),
    ],
)
def test_inexact_and_effectful_functions_run_element_by_element(function):
    x = np.random.default_rng(1).normal(size=(12, 15)).astype(np.float32)
    assert not is_rowwise(function, x)
    dataset = Dataset.from_tensor_slices(x).map(function)
    list(dataset)
    assert len(list(dataset.batch(5))) == 3


def test_large_rows_run_element_by_element():
    assert not is_rowwise(lambda x: x * 2.0, np.zeros((2, 5000), np.float32))


def test_an_error_is_raised_for_its_element():
    table = tf.range(10)
    dataset = Dataset.from_tensor_slices(np.array([1, 2, 3, 4, 40, 6, 7, 8, 9])).map(
        lambda i: tf.gather(table, i)
    )
    for _ in range(2):  # element by element, then on batches; the same
        iterator = iter(dataset.batch(3))
        assert next(iterator).numpy().tolist() == [1, 2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="40"):
            next(iterator)
        assert next(iterator).numpy().tolist() == [7, 8, 9]  # its batch is lost, as in TensorFlow
        assert next(iterator, None) is None
    again = iter(dataset.shuffle(1).batch(3))
    next(again)
    with pytest.raises(tf.errors.InvalidArgumentError, match="40"):
        next(again)
    assert next(again).numpy().tolist() == [6, 7, 8]  # only the element is lost


def test_reading_the_spec_first_vectorizes_the_first_iteration():
    calls = []

    def double(x):
        calls.append(1)
        return x * 2

    dataset = Dataset.from_tensor_slices(INTEGERS).map(double)
    assert dataset.element_spec.shape == (15,)
    traced = len(calls)
    (batch,) = list(dataset.batch(45))
    assert len(calls) == traced
    assert dataset._find_rows() is not None
    np.testing.assert_array_equal(batch, INTEGERS * 2)


def test_ranges_and_zipped_datasets_are_rows_too():
    squares = Dataset.range(3, 30, 4).map(lambda i: i * i)
    list(squares)
    assert [b.numpy().tolist() for b in squares.batch(3)] == [[9, 49, 121], [225, 361, 529], [729]]
    pairs = Dataset.zip((Dataset.range(10).shuffle(5, 3, False), squares)).map(lambda a, b: b - a)
    alone = [int(e) for e in pairs]
    assert np.concatenate([b.numpy() for b in pairs.batch(3)]).tolist() == alone


def test_the_listed_ops_are_primitives():
    from gradtape.core.primitive import REGISTRY

    tf.nn.relu6(1.0), tf.bitwise.invert(1), tf.one_hot(1, 2)
    assert set(REGISTRY) >= EXACT_OPS | TRAILING_AXES_OPS | JOINING_OPS
