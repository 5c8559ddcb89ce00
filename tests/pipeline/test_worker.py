"""Threads of a pipeline: bounded, ended with their iterator, no element lost."""

import gc
import os
import threading
from itertools import count

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


@pytest.fixture
def ours():
    """A function that lists the threads of pipelines that this test has started."""
    before = set(threading.enumerate())

    def find():
        found = set(threading.enumerate()) - before
        return [thread for thread in found if thread.name.startswith("gradtape")]

    return find


def join_all(threads):
    """Wait until threads have ended."""
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


class AnnouncingCondition(threading.Condition):
    """A condition with an event that is set when a thread of a pipeline waits for it."""

    waits = threading.Event()

    def wait(self, timeout=None):
        if threading.current_thread().name.startswith("gradtape"):
            self.waits.set()
        return super().wait(timeout)


def drawn(n):
    """Numbers computed by Python code of the user, which is prefetched; data in memory is not."""
    return Dataset.from_generator(
        lambda: iter(range(n)), output_signature=tf.TensorSpec((), tf.int64)
    )


def test_a_thread_prefetches_at_most_the_buffer_size(monkeypatch):
    made = []
    monkeypatch.setattr(threading, "Condition", AnnouncingCondition)
    AnnouncingCondition.waits.clear()

    def numbers():
        for i in range(100):
            made.append(i)
            yield i

    dataset = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))
    iterator = iter(dataset.prefetch(5))
    assert not made  # nothing before the first element is read
    assert next(iterator) == 0
    assert AnnouncingCondition.waits.wait(60)  # until the thread has filled the buffer
    assert len(made) in (5, 6)  # five in the buffer; one more if one was delivered before
    assert [int(x) for x in iterator] == list(range(1, 100))
    assert next(iterator, None) is None


@pytest.mark.parametrize("size", [1, 2, 3, 50, tf.data.AUTOTUNE])
@pytest.mark.parametrize("source", [Dataset.range, drawn])
def test_no_element_is_lost_or_duplicated(size, source):
    dataset = source(2000).prefetch(size).batch(7).prefetch(size)
    assert np.concatenate([b.numpy() for b in dataset]).tolist() == list(range(2000))


def test_elements_in_memory_are_prefetched_only_if_they_are_slow(ours, monkeypatch):
    dataset = Dataset.range(400).shuffle(50, seed=1).batch(4).prefetch(2)
    monkeypatch.setattr("gradtape.pipeline.worker.perf_counter", lambda: 0.0)
    iterator = iter(dataset)
    plain = list(iterator)
    assert not ours()
    monkeypatch.setattr("gradtape.pipeline.worker.perf_counter", count(0.0, 1.0).__next__)
    iterator = iter(dataset)
    for _ in range(8):
        next(iterator)
    assert not ours()
    next(iterator)
    assert ours()
    assert len(list(iterator)) == len(plain) - 9


@pytest.mark.parametrize(
    "make",
    [
        lambda: drawn(1000).prefetch(3),
        lambda: drawn(1000).repeat().prefetch(2).batch(2).prefetch(2),
        lambda: Dataset.range(1000).map(lambda x: x + 1, num_parallel_calls=3),
        lambda: Dataset.range(9).interleave(lambda x: Dataset.range(1000), 3, 2, 3),
        lambda: drawn(1000).prefetch(2).shuffle(10),
    ],
)
def test_threads_end_when_the_iterator_is_dropped(make, ours):
    iterator = iter(make())
    next(iterator)
    threads = ours()
    assert threads
    del iterator
    gc.collect()
    join_all(threads)


def test_threads_end_with_the_elements_and_after_an_error(ours):
    list(drawn(10).prefetch(2))
    list(Dataset.range(10).map(lambda x: x, num_parallel_calls=2))

    def boom():
        yield 1
        raise KeyError("boom")

    dataset = Dataset.from_generator(boom, output_signature=tf.TensorSpec((), tf.int32))
    with pytest.raises(tf.errors.UnknownError, match="boom"):
        list(dataset.prefetch(2))
    with pytest.raises(
        tf.errors.UnknownError, match="boom"
    ):  # a KeyError, reported as in TensorFlow
        for _ in dataset.map(lambda x: x, num_parallel_calls=2):
            pass
    gc.collect()
    join_all(ours())


def test_leaving_a_loop_early_ends_its_threads(ours):
    for element in drawn(1000).prefetch(4):
        if element == 3:
            break
    gc.collect()
    join_all(ours())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_can_iterate_but_not_with_iterators_of_its_parent():
    dataset = drawn(50).map(lambda x: x * 2, num_parallel_calls=2).prefetch(2)
    begun = iter(dataset)
    next(begun)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            whole = [int(x) for x in dataset] == list(range(0, 100, 2))
            try:
                next(begun)
            except tf.errors.FailedPreconditionError:
                status = 0 if whole else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [int(x) for x in begun] == list(range(2, 100, 2))


def test_threads_may_share_an_iterator():
    iterator = iter(Dataset.range(500).prefetch(4))
    found = []

    def draw():
        found.extend(int(x) for x in iterator)

    threads = [threading.Thread(target=draw) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(500))
