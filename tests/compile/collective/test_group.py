"""Collectives of a group: values, equality on all workers, and errors."""

import ml_dtypes
import numpy as np
import pytest

from gradtape.compile.collective import bucket
from gradtape.compile.collective.bucket import make_buckets
from gradtape.core.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    UnavailableError,
)
from gradtape.core.worker_group import WorkerGroup
from tests.compile.collective.in_threads import run_workers

SIZES = [2, 3, 5]
REDUCTIONS = {"SUM": np.sum, "MEAN": np.mean, "MIN": np.min, "MAX": np.max}


def values_of(rank, shape):
    return np.random.default_rng(rank).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (7,), (3, 5), (20_011,), (300, 301)])
def test_sum_is_numpys_and_equal_on_all_workers(size, shape):
    results = run_workers(size, lambda g: g.all_reduce([values_of(g.rank, shape)])[0])
    expected = np.sum([values_of(rank, shape) for rank in range(size)], axis=0)
    for result in results:
        assert result.shape == shape
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
        assert result.tobytes() == results[0].tobytes()


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("shape", [(4,), (50_000,)])
def test_reductions_are_numpys(op, shape):
    results = run_workers(3, lambda g: g.all_reduce([values_of(g.rank, shape)], op)[0])
    expected = REDUCTIONS[op]([values_of(rank, shape) for rank in range(3)], axis=0)
    np.testing.assert_allclose(results[1], expected, rtol=1e-5, atol=1e-6)


def test_arrays_of_several_dtypes_come_back_in_order():
    def reduce_all(group):
        arrays = [
            np.float32(group.rank + 1),
            np.arange(6, dtype=np.int64).reshape(2, 3),
            np.full(4, 0.5, np.float16),
            np.ones((2, 2), np.complex64) * 1j,
            np.full(3, 2, ml_dtypes.bfloat16),
            np.arange(30_000.0),
        ]
        return arrays, group.all_reduce(arrays)

    for arrays, reduced in run_workers(2, reduce_all):
        assert [each.dtype for each in reduced] == [np.asarray(each).dtype for each in arrays]
        assert [each.shape for each in reduced] == [np.shape(each) for each in arrays]
        assert reduced[0] == 3
        for before, after in list(zip(arrays, reduced, strict=True))[1:]:
            np.testing.assert_array_equal(np.asarray(after), np.asarray(before) + before)


def test_arguments_stay_as_they_are():
    def reduce_read_only(group):
        small, large = np.ones(3), np.ones(30_000)
        small.flags.writeable = large.flags.writeable = False
        return [array[0] for array in group.all_reduce([small, large, large[::2]])]

    assert run_workers(2, reduce_read_only) == [[2, 2, 2], [2, 2, 2]]


def test_half_types_are_summed_in_float32():
    value = np.array([1, 2**-11], np.float16)
    results = run_workers(3, lambda g: g.all_reduce([value[[0, 1, 1][g.rank], None]])[0])
    assert [float(each[0]) for each in results] == [1 + 2**-10] * 3


def test_mean_of_integers_rounds_toward_zero():
    results = run_workers(2, lambda g: g.all_reduce([np.array([-3 * g.rank, 3 * g.rank])], "MEAN"))
    np.testing.assert_array_equal(results[0][0], [-1, 1])


@pytest.mark.parametrize("size", SIZES)
def test_gather_takes_arrays_of_different_shapes(size):
    results = run_workers(size, lambda g: g.all_gather(np.full((g.rank, 2), g.rank, np.int32)))
    for gathered in results:
        assert [each.shape for each in gathered] == [(rank, 2) for rank in range(size)]
        assert all((each == rank).all() for rank, each in enumerate(gathered))


@pytest.mark.parametrize("root", [0, 1, 2])
@pytest.mark.parametrize("length", [0, 1, 100_000])
def test_broadcast_returns_the_roots_array(root, length):
    results = run_workers(3, lambda g: g.broadcast(np.full(length, g.rank), root))
    for result in results:
        np.testing.assert_array_equal(result, np.full(length, root))


def test_broadcast_keeps_the_shape_of_a_scalar():
    results = run_workers(2, lambda g: g.broadcast(np.asarray(np.float32(g.rank + 5))))
    assert [(result.shape, float(result)) for result in results] == [((), 5), ((), 5)]


def test_scalars_join_the_bucket_of_the_gradients():
    arrays = [
        np.ones((100, 100), np.float32),
        np.float32(1),
        np.ones(3, np.int64),
        np.ones(3, "f4"),
    ]
    assert [each.members for each in make_buckets(arrays)] == [[0, 1, 3], [2]]


def test_a_bucket_ends_before_it_is_too_large(monkeypatch):
    monkeypatch.setattr(bucket, "BUCKET_BYTES", 40)
    arrays = [np.ones(length, np.float32) for length in (4, 5, 2, 100, 1)]
    assert [each.members for each in make_buckets(arrays)] == [[0, 1], [2], [3], [4]]


def test_strings_cannot_be_reduced():
    with pytest.raises(InvalidArgumentError, match="must be numbers"):
        make_buckets([np.array([b"a"], object)])


def test_it_is_a_worker_group():
    assert run_workers(2, lambda g: isinstance(g, WorkerGroup)) == [True, True]


DIFFERENT_CALLS = {
    "shape": (lambda g: g.all_reduce([np.ones(3)]), lambda g: g.all_reduce([np.ones(4)])),
    "dtype": (lambda g: g.all_reduce([np.ones(3)]), lambda g: g.all_reduce([np.ones(3, "f4")])),
    "kind": (lambda g: g.all_reduce([np.ones(3)]), lambda g: g.all_gather(np.ones(3))),
    "reduction": (
        lambda g: g.all_reduce([np.ones(3)]),
        lambda g: g.all_reduce([np.ones(3)], "MAX"),
    ),
    "name": (lambda g: g.barrier("one"), lambda g: g.barrier("two")),
}


@pytest.mark.parametrize("case", DIFFERENT_CALLS)
def test_different_collectives_are_an_error_on_every_worker(case):
    usual, other = DIFFERENT_CALLS[case]
    for error in run_workers(3, lambda g: other(g) if g.rank == 1 else usual(g)):
        assert isinstance(error, InvalidArgumentError), error
        assert "must call the same collectives" in str(error)


def test_after_an_error_every_collective_raises_it():
    def fail_twice(group):
        errors = []
        for _ in range(2):
            try:
                group.barrier(f"of worker {group.rank}")
            except InvalidArgumentError as error:
                errors.append(str(error))
        return errors

    for first, second in run_workers(2, fail_twice):
        assert first == second


def test_a_worker_that_left_is_named_with_its_reason():
    def leave_early(group):
        group.barrier("all")
        if group.rank == 1:
            return group.close("it raised ValueError: boom")
        return group.barrier("without worker 1")

    chief, _, other = run_workers(3, leave_early)
    for error in (chief, other):
        assert isinstance(error, UnavailableError)
        assert "worker 1 (127.0.0.1:" in str(error)
        assert "it raised ValueError: boom" in str(error)


def test_a_worker_that_leaves_after_the_last_collective_disturbs_no_other():
    def leave(group):
        result = group.all_reduce([np.ones(200_000)])[0][0]
        group.close("its program ended")
        return result

    for _ in range(5):
        assert run_workers(3, leave) == [3, 3, 3]


def test_a_collective_that_waits_too_long_names_the_missing_worker():
    def be_late(group):
        group.barrier("start")
        if group.rank == 2:
            group.monitor.thread.join(3)  # alive, but not in the collective
        return group.all_reduce([np.ones(3)])

    chief, worker, _ = run_workers(3, be_late, worker_timeout=1.0, timeout=1.5)
    for error in (chief, worker):
        assert isinstance(error, DeadlineExceededError)
        assert "worker 2 (127.0.0.1:" in str(error)
        assert "timeout_seconds" in str(error)


def test_a_silent_worker_is_named():
    def fall_silent(group):
        group.barrier("start")
        if group.rank == 1:
            group.monitor.is_closed = True  # as if the process were stopped
            group.monitor.thread.join(10)
            return group.ring.receive(bytearray(1_000_000))
        return group.barrier("end")

    chief, _, other = run_workers(3, fall_silent, worker_timeout=1.0)
    for error in (chief, other):
        assert isinstance(error, DeadlineExceededError)
        assert "worker 1 (127.0.0.1:" in str(error)
        assert "GRADTAPE_WORKER_TIMEOUT" in str(error)


def test_a_late_worker_is_reported_while_others_wait(monkeypatch, caplog):
    monkeypatch.setattr("gradtape.compile.collective.group.REPORT_SECONDS", 0.6)

    def be_late(group):
        group.barrier("start")
        if group.rank == 1:
            group.monitor.thread.join(2.5)
        return group.all_reduce([np.ones(1)])[0][0]

    assert run_workers(2, be_late, worker_timeout=1.5) == [2, 2]
    assert "worker 0 has waited" in caplog.text
    assert "for worker 1 (127.0.0.1:" in caplog.text
