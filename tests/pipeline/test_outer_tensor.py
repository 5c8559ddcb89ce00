"""Datasets that a function makes of its tensors, with the results of TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset
X = np.arange(12.0).reshape(6, 2)
NUMBERS = np.arange(5)


def call_twice(function, *args):
    """Two calls of a `tf.function`: the one that traces it, and the next one."""
    compiled = tf.function(function)
    return [compiled(*args).numpy().item() for _ in range(2)]


def test_a_loop_over_slices_of_an_argument():
    @tf.function
    def add(x):
        total = tf.constant(0.0, tf.float64)
        for row in Dataset.from_tensor_slices(x).batch(4):
            total += tf.reduce_sum(row * row)
        return total

    assert float(add(tf.constant(X))) == 506
    assert float(add(tf.constant(X))) == 506
    assert float(add(tf.constant(-2 * X))) == 4 * 506  # not the values of the first call
    assert not add.fallbacks()


def test_functions_of_elements_close_over_arguments():
    @tf.function
    def run(x, y):
        def scale(row):
            if y > 2:
                return row + y
            return row - y

        total = tf.constant(0, tf.int64)
        for number in Dataset.from_tensor_slices(x).map(scale, num_parallel_calls=2).prefetch(2):
            total = total * 10 + number
        return total

    x = tf.constant(NUMBERS)
    found = [int(run(x, tf.constant(y, tf.int64))) for y in (1, 1, 2, 2, 3, 3, 4, 4)]
    assert found == [-9877, -9877, -20988, -20988, 34567, 34567, 45678, 45678]


def test_a_function_of_elements_returns_a_tensor_around_it():
    @tf.function
    def run(x, y):
        def is_larger(number):
            return number > y

        pairs = Dataset.from_tensor_slices({"a": x, "b": x * 2})
        pairs = pairs.filter(lambda e: is_larger(e["a"])).map(lambda e: (e["b"], y))
        total = tf.constant(0, tf.int64)
        for b, same in pairs:
            total = total * 100 + b + same
        return total

    x = tf.constant(NUMBERS)
    found = [int(run(x, tf.constant(y, tf.int64))) for y in (1, 1, 2, 3)]
    assert found == [50709, 50709, 810, 11]


def slices(x):
    """A dataset of the elements."""
    return Dataset.from_tensor_slices(x)


TRANSFORMATIONS = {
    "flat_map": lambda x, y: slices(x).flat_map(lambda e: Dataset.from_tensors(e * y)),
    "scan": lambda x, y: slices(x).scan(y, lambda s, e: (s + e, s * e)),
    "unbatch": lambda x, y: Dataset.from_tensors(x * y).unbatch(),
    "interleave": lambda x, y: slices(x).interleave(
        lambda e: Dataset.from_tensors(e).repeat(2).map(lambda v: v * y), cycle_length=2
    ),
    "group_by_window": lambda x, y: slices(x).group_by_window(
        lambda e: e % 2, lambda key, group: group.map(lambda e: e * y), window_size=3
    ),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flat_map", 267),
        ("scan", 317),
        ("unbatch", 267),
        ("interleave", 7557),
        ("group_by_window", 300),
    ],
)
def test_transformations_close_over_arguments(name, expected):
    def run(x, y):
        made = TRANSFORMATIONS[name](x, y)
        return made.reduce(y, lambda total, e: total * 2 + e + y)

    assert call_twice(run, tf.constant(NUMBERS), tf.constant(3, tf.int64)) == [expected] * 2


def test_datasets_in_branches_and_loops_of_python():
    @tf.function
    def run(x):
        total = tf.constant(0.0, tf.float64)
        for i in tf.range(2):
            if tf.reduce_sum(x) > 0:
                rows = Dataset.from_tensor_slices(x + tf.cast(i, tf.float64))
                for row in rows.interleave(Dataset.from_tensor_slices, cycle_length=2):
                    total = total * 0.5 + 2 * row
        return total

    x = tf.constant(X)
    assert [float(run(x)) for _ in range(2)] == [43.47740936279297] * 2


def test_arguments_of_unknown_size():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def run(x):
        total = tf.constant(0, tf.int64)
        for e in Dataset.from_tensor_slices(x).map(lambda e: e + tf.shape(x, tf.int64)[0]):
            total = total * 10 + e + 0 * tf.size(x, tf.int64)
        return total

    x = tf.constant(NUMBERS)
    assert [int(run(x)), int(run(x)), int(run(x[:3]))] == [56789, 56789, 345]


def test_functions_of_elements_read_sizes_that_the_signature_leaves_open():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def run(x):
        total = count = tf.constant(0)
        for row in Dataset.from_tensor_slices(x).map(lambda row: tf.math.top_k(x, 2)[0]):
            total, count = total + tf.reduce_sum(row), count + 1
        return total, count

    x = tf.constant([[-3, 0, 7]])
    assert [tuple(int(v) for v in run(x)) for _ in range(3)] == [(7, 1)] * 3
    assert tuple(int(v) for v in run(x[:, :2])) == (-3, 1)


def test_no_gradient_flows_through_a_dataset():
    @tf.function
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.constant(0.0, tf.float64)
            for row in Dataset.from_tensor_slices(x):
                total += tf.reduce_sum(row)
        return tape.gradient(total, x)

    assert run(tf.constant(X)) is None


def test_seeded_orders_start_again_with_each_call():
    tf.random.set_seed(5)

    @tf.function
    def run():
        total = tf.constant(0, tf.int64)
        for e in Dataset.range(6).shuffle(6, seed=4, reshuffle_each_iteration=True).repeat(2):
            total = total * 10 + e
        return total

    assert [int(run()) for _ in range(4)] == [402513432150] * 4


def test_orders_without_seed_differ_from_call_to_call():
    tf.random.set_seed(None)

    @tf.function
    def run():
        return Dataset.range(50).shuffle(50).take(9).reduce(np.int64(0), lambda t, e: t * 50 + e)

    assert len({int(run()) for _ in range(4)}) == 4


def test_a_dataset_that_leaves_its_function_has_no_values():
    kept = []

    @tf.function
    def run(x):
        kept.append(Dataset.from_tensor_slices(x))
        return x

    run(tf.constant(X))
    with pytest.raises(TypeError, match="out of scope"):
        list(kept[0])
