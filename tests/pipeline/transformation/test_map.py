"""Functions of elements: parallel, interleaved and stateful."""

import os
import threading
from itertools import count

import numpy as np
import pytest

import gradtape as tf
from gradtape.pipeline import worker

Dataset = tf.data.Dataset


def listed(dataset):
    return [np.asarray(element.numpy()).tolist() for element in dataset]


def on_the_host(function):
    """Make a function of a scalar int64 whose Python code runs for every element."""
    return lambda x: tf.py_function(function, [x], tf.int64)


@pytest.mark.parametrize(
    ("cycle", "block", "order"),
    [
        (2, 1, [0, 1, 1, 2, 2, 3, 2, 3, 3, 3]),
        (2, 2, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]),
        (3, 2, [0, 1, 1, 2, 2, 3, 3, 2, 3, 3]),
        (1, 1, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]),
        (5, 3, [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]),
    ],
)
@pytest.mark.parametrize("parallel", [None, 2])
def test_interleave_has_tensorflows_order(cycle, block, order, parallel):
    dataset = Dataset.range(4).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x + 1), cycle, block, parallel
    )
    assert listed(dataset) == order
    assert dataset.element_spec == tf.TensorSpec((), tf.int64)


def test_parallel_calls_keep_the_order():
    together, traced = threading.Barrier(3), threading.Event()

    def meet(x):
        if traced.is_set() and int(x) < 3:
            together.wait(timeout=30)
        return x * 2

    dataset = Dataset.range(8).map(on_the_host(meet), num_parallel_calls=3)
    listed(dataset)  # the first call traces, during which no other call runs
    traced.set()
    assert listed(dataset) == list(range(0, 16, 2))


def test_without_order_the_first_result_comes_first():
    go, traced = threading.Event(), threading.Event()

    def wait_for_the_reader(x):
        if traced.is_set() and int(x) == 0:
            go.wait(30)
        return x

    dataset = Dataset.range(4).map(
        on_the_host(wait_for_the_reader), num_parallel_calls=3, deterministic=False
    )
    listed(dataset)
    traced.set()
    elements = iter(dataset)
    first = int(next(elements))  # while the call for 0 waits
    assert first != 0
    go.set()
    assert sorted([first, *(int(x) for x in elements)]) == [0, 1, 2, 3]


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_autotune_uses_threads_for_slow_calls_only(seconds, monkeypatch):
    names, together = set(), threading.Barrier(3)

    def call(x):
        names.add(threading.current_thread().name)
        if seconds and worker.TRIAL_CALLS <= int(x) < worker.TRIAL_CALLS + 3:
            together.wait(timeout=30)  # passes only if three calls run at a time
        return x

    dataset = Dataset.range(30).map(on_the_host(call), num_parallel_calls=tf.data.AUTOTUNE)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setattr(worker, "perf_counter", count(0.0, seconds).__next__)
    assert listed(dataset) == list(range(30))
    assert len(names) == (1 if not seconds else 4)  # the caller's thread, and three more


def test_scanning():
    dataset = Dataset.range(5).scan(np.int64(0), lambda s, x: (s + x, s * x))
    assert listed(dataset) == [0, 0, 2, 9, 24]
    with pytest.raises(TypeError, match="pair"):
        list(Dataset.range(3).scan(np.int64(0), lambda s, x: s))
    with pytest.raises(TypeError, match="state"):
        list(Dataset.range(3).scan(0, lambda s, x: (tf.cast(s, tf.float32), x)))
    with pytest.raises(TypeError, match="state"):
        Dataset.range(3).reduce(0, lambda s, x: tf.cast(s, tf.float32))


def test_apply_and_single_elements():
    assert listed(Dataset.range(3).apply(lambda d: d.map(lambda x: x * 2))) == [0, 2, 4]
    with pytest.raises(TypeError):
        Dataset.range(3).apply(lambda d: 3)
    assert Dataset.range(1).get_single_element() == 0
    for n in (0, 2):
        with pytest.raises(tf.errors.InvalidArgumentError):
            Dataset.range(n).get_single_element()


def test_assert_cardinality_checks_the_number_of_elements():
    dataset = Dataset.range(3).filter(lambda x: True)
    known = dataset.apply(tf.data.experimental.assert_cardinality(3))
    assert len(known) == 3
    assert listed(known) == [0, 1, 2]
    for n in (2, 4):
        with pytest.raises(tf.errors.FailedPreconditionError, match="expected to contain"):
            list(dataset.apply(tf.data.experimental.assert_cardinality(n)))


def test_windows_are_tensorflows():
    def windows(**options):
        dataset = Dataset.range(7).window(**options)
        found = [listed(window) for window in dataset]
        assert len(dataset) == len(found)
        return found

    assert windows(size=2) == [[0, 1], [2, 3], [4, 5], [6]]
    assert windows(size=2, shift=1)[-2:] == [[5, 6], [6]]
    assert windows(size=2, shift=3) == [[0, 1], [3, 4], [6]]
    assert windows(size=3, stride=2) == [[0, 2, 4], [3, 5], [6]]
    assert windows(size=3, drop_remainder=True) == [[0, 1, 2], [3, 4, 5]]
    assert windows(size=3, shift=2, stride=2) == [[0, 2, 4], [2, 4, 6], [4, 6], [6]]
    spec = Dataset.range(7).window(2).element_spec
    assert spec == tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))
    flat = Dataset.range(5).window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert listed(flat) == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert flat.element_spec == tf.TensorSpec((None,), tf.int64)
    pairs = Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6])).window(2)
    assert [(listed(a), listed(b)) for a, b in pairs] == [([1, 2], [4, 5]), ([3], [6])]
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(3).window(0)


def test_groups_are_tensorflows():
    dataset = Dataset.range(10).group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), 3)
    assert listed(dataset) == [[0, 2, 4], [1, 3, 5], [6, 8], [7, 9]]
    assert dataset.element_spec == tf.TensorSpec((None,), tf.int64)
    by_key = Dataset.range(10).group_by_window(
        lambda x: x % 2, lambda k, d: d.batch(3), window_size_func=lambda k: k + 2
    )
    assert listed(by_key) == [[0, 2], [1, 3, 5], [4, 6], [8], [7, 9]]


def lengths(*sizes):
    return Dataset.from_generator(
        lambda: ([1] * n for n in sizes), output_signature=tf.TensorSpec([None], tf.int32)
    )


def test_buckets_are_tensorflows():
    dataset = lengths(3, 1, 5, 2, 8, 4, 1, 6).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2]
    )
    assert [b.shape.as_list() for b in dataset] == [[2, 2], [2, 8], [2, 4], [1, 1], [1, 6]]
    assert dataset.element_spec == tf.TensorSpec((None, None), tf.int32)
    padded = lengths(3, 1, 4, 2, 3, 4, 1, 2).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0],
        [3, 5],
        [2, 2, 2],
        pad_to_bucket_boundary=True,
        drop_remainder=True,
        padding_values=-1,
    )
    assert listed(padded) == [[[1, 1, 1, -1], [1, 1, 1, 1]], [[1, -1], [1, 1]]] * 2


def test_making_datasets_in_a_loop_does_not_warn(caplog):
    def doubled(x):
        return x * 2

    for _ in range(12):
        assert list(tf.data.Dataset.range(2).map(doubled).as_numpy_iterator()) == [0, 2]
    assert "retracing" not in caplog.text


class TestRandomOps:
    """Random ops in a dataset's functions restart with every iterator, as in TensorFlow."""

    def dataset(self, n=2):
        tf.random.set_seed(7)
        return tf.data.Dataset.range(n).map(lambda _: tf.random.uniform([2]))

    def numbers(self, items):
        return np.round([float(x[0]) for x in items], 4).tolist()

    def test_every_iteration_draws_the_same_numbers(self):
        dataset = self.dataset(3)
        assert [self.numbers(dataset) for _ in range(2)] == [[0.7537, 0.3971, 0.1782]] * 2

    def test_iterators_do_not_disturb_each_other(self):
        dataset = self.dataset()
        a, b = iter(dataset), iter(dataset)
        assert self.numbers([next(a), next(b), next(a)]) == [0.7537, 0.7537, 0.3971]

    def test_a_repeated_dataset_continues_its_streams(self):
        assert self.numbers(self.dataset().repeat(2)) == [0.7537, 0.3971, 0.1782, 0.1553]
        ahead = self.dataset().prefetch(1).repeat(2).prefetch(2)
        assert self.numbers(ahead) == [0.7537, 0.3971, 0.1782, 0.1553]

    def test_the_global_seed_is_read_when_the_dataset_is_made(self):
        dataset = self.dataset()
        tf.random.set_seed(8)
        items = iter(dataset)
        first = next(items)
        tf.random.set_seed(9)
        assert self.numbers([first, next(items)]) == [0.7537, 0.3971]

    def test_elements_of_another_shape_use_the_same_stream(self):
        tf.random.set_seed(7)
        batches = tf.data.Dataset.range(3).batch(2)
        drawn = batches.map(lambda x: tf.random.uniform(tf.shape(x)))
        assert self.numbers(drawn) == [0.7537, 0.3971]

    def test_a_function_is_traced_when_the_dataset_is_made(self):
        runs = []
        dataset = tf.data.Dataset.range(3).map(lambda x: runs.append(1) or x + 1)
        assert len(runs) >= 1
        traced = len(runs)
        assert [int(x) for x in dataset] == [1, 2, 3]
        assert len(runs) == traced

    def test_unseeded_iterations_differ(self):
        tf.random.set_seed(None)
        dataset = tf.data.Dataset.range(2).map(lambda _: tf.random.uniform([2]))
        assert self.numbers(dataset) != self.numbers(dataset)


class TestMaking:
    """Making a dataset traces its function without side effects."""

    def test_making_a_dataset_only_traces(self, capsys):
        v, calls = tf.Variable(0), []
        numbers = tf.data.Dataset.range(2)
        first = numbers.map(
            lambda x: tf.numpy_function(lambda y: calls.append(y) or y, [x], tf.int64)
        )
        second = first.map(lambda x: x + 1).batch(2).map(lambda x: x * 2)
        third = numbers.map(lambda x: (v.assign_add(1), x))
        fourth = numbers.map(lambda x: tf.print("here") or x)
        assert third.element_spec == (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int64))
        assert (calls, int(v), capsys.readouterr().err) == ([], 0, "")
        assert [x.numpy().tolist() for x in second] == [[2, 4]]
        assert calls == [0, 1]
        assert len(list(third)) == int(v) == 2
        assert len(list(fourth)) == 2
        assert capsys.readouterr().err == "here\nhere\n"

    def test_errors_of_the_function_are_raised_at_once(self):
        def refuse(x):
            raise KeyError("no such column")

        with pytest.raises(KeyError, match="no such column"):
            tf.data.Dataset.range(2).map(refuse)
        with pytest.raises(NameError):
            tf.data.Dataset.range(2).map(lambda x: x + unknown)  # noqa: F821

    def test_functions_that_depend_on_values_run_at_iteration(self):
        def picky(x):
            if x == 0:
                raise ValueError("zero")
            return tf.gather([1, 2, 3], x)

        dataset = tf.data.Dataset.range(1, 3).map(picky)
        assert [int(x) for x in dataset] == [2, 3]
        inverse = tf.data.Dataset.from_tensors(2 * tf.eye(2)).map(tf.linalg.inv)
        assert float(next(iter(inverse))[0, 0]) == 0.5

    def test_variables_that_the_function_makes_are_not_changed(self):
        made = []

        def count(x):
            if not made:
                made.append(tf.Variable(0))
            return x, made[0].assign_add(1)

        dataset = tf.data.Dataset.range(4).batch(3).map(count)
        assert dataset.element_spec[1] == tf.TensorSpec([], tf.int32)
        assert int(made[0]) == 0
        assert [int(n) for _, n in dataset] == [1, 2]

    def test_variables_of_functions_that_depend_on_values_are_not_changed(self):
        v = tf.Variable(0)

        def count(x):
            v.assign_add(1)
            return x + 1 if x > 0 else x

        dataset = tf.data.Dataset.range(3).map(count)
        assert dataset.element_spec == tf.TensorSpec([], tf.int64)
        assert int(v) == 0
        assert [int(x) for x in dataset] == [0, 2, 3]
        assert int(v) == 3


def test_unstack_of_a_batch_of_unknown_size_is_refused_in_a_function():
    @tf.function
    def add(drops):
        total = tf.constant(0, tf.int64)
        batches = tf.data.Dataset.range(5).batch(2, drop_remainder=drops)
        for first in batches.map(lambda batch: tf.unstack(batch)[0]):
            total += first
        return total

    with pytest.raises(ValueError, match="Cannot infer argument `num` from shape"):
        add(False)
    assert int(add(True)) == 2
