"""In-place updates: only without other references, and atomic under interrupts and threads."""

import signal
import threading
import weakref

import numpy as np
import pytest

import gradtape as tf

UPDATES = {
    "assign_add": lambda v: v.assign_add(tf.ones((4, 3))),
    "assign_sub": lambda v: v.assign_sub(tf.fill((4, 3), -1.0)),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices(tf.ones((4, 3)), [0, 1, 2, 3])),
    "scatter_nd_add": lambda v: v.scatter_nd_add([[0], [1], [2], [3]], tf.ones((4, 3))),
    "scatter_update": lambda v: v.scatter_update(tf.IndexedSlices(tf.ones((4, 3)), [0, 1, 2, 3])),
    "slice": lambda v: v[:2].assign(tf.ones((2, 3))),
}
every_update = pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)


def zeros(*shape):
    """A variable whose array has no other reference."""
    v = tf.Variable(np.zeros(shape, np.float32))
    v.assign_add(tf.zeros(shape))
    return v


def place(v):
    return v._stored_version()._array.ctypes.data


@every_update
def test_a_value_without_other_references_is_updated_in_place(update):
    v = zeros(4, 3)
    before, uid = place(v), v._stored_version().uid
    update(v)
    assert place(v) == before
    assert v._stored_version().uid != uid
    assert v.numpy()[0].tolist() == [1.0, 1.0, 1.0]


def residual_of(v):
    with tf.GradientTape() as tape:
        y = v * v
    return tape, y


HOLDERS = {
    "converted": lambda v: tf.convert_to_tensor(v),
    "value": lambda v: v.value(),
    "identity": lambda v: tf.identity(v),
    "a slice": lambda v: v[:2],
    "reshaped": lambda v: tf.reshape(v, (3, 4)),
    "an array": lambda v: np.asarray(v.value()),
    "a buffer": lambda v: memoryview(np.asarray(v.value())),
    "part of an array": lambda v: np.asarray(v.value())[1:, ::2],
    "dlpack": lambda v: np.from_dlpack(v.value()),
    "another variable": lambda v: tf.Variable(v),
    "a variable assigned to": lambda v: zeros(4, 3).assign(v),
    "a list": lambda v: list(v),
}


@every_update
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_an_update_does_not_change_values_read_before(update, hold):
    v = zeros(4, 3)
    held = hold(v)
    update(v)
    update(v)
    assert not np.any(np.asarray(held))
    assert np.any(v.numpy())


@every_update
def test_an_update_does_not_change_values_read_inside_a_tape(update):
    v = zeros(4, 3)
    with tf.GradientTape():
        held = tf.convert_to_tensor(v)
    update(v)
    assert not np.any(held.numpy())


@every_update
def test_an_update_does_not_change_residuals_of_a_tape(update):
    v = zeros(4, 3)
    tape, y = residual_of(v)
    update(v)
    assert not np.any(tape.gradient(y, v).numpy())


@every_update
def test_an_update_does_not_change_the_assigned_tensor(update):
    t = tf.zeros((4, 3))
    v, w = tf.Variable(t), zeros(4, 3)
    w.assign(t)
    update(v)
    update(w)
    assert not np.any(t.numpy())


def test_a_variable_may_be_added_to_itself():
    v = zeros(3)
    v.assign_add([1.0, 2.0, 3.0])
    v.assign_add(v)
    v.assign_sub(v[::-1])
    assert v.numpy().tolist() == [-4.0, 0.0, 4.0]


def test_updates_inside_a_tape():
    v = zeros(2)
    v.assign_add([2.0, 3.0])
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = v * v
        v.assign_sub(0.5 * y)
        z = y * v
    (g,) = inner.gradient(z, [v])
    assert v.numpy().tolist() == [0.0, -1.5]
    # z = y(v) w with the new version w: 2 v w from the first read, y from the second.
    assert g.numpy().tolist() == [4.0, 0.0]
    del outer


def test_an_old_version_is_freed():
    v = zeros(4)
    with tf.GradientTape():
        gone = weakref.ref(v._read())
    assert gone() is not None
    v.assign_add(tf.ones(4))
    assert gone() is None


class Sudden(BaseException):
    """A BaseException but no Exception, like KeyboardInterrupt."""


@pytest.mark.parametrize("error", [ValueError, Sudden])
def test_a_failed_update_changes_nothing(error):
    v = zeros(4)
    before, uid = place(v), v._stored_version().uid

    def fail(array, own):
        assert own
        raise error

    with pytest.raises(error):
        v._update(fail)
    assert (place(v), v._stored_version().uid, v._array_in_update) == (before, uid, None)
    assert v.assign_add(tf.ones(4)).numpy().tolist() == [1.0] * 4
    assert place(v) == before


def test_a_read_during_an_update_gets_a_copy():
    v = zeros(3)
    seen = []

    def update(array, own):
        assert own
        seen.append(v.value())  # as a signal handler or a destructor may
        array += 1
        seen.append(v.value())
        return array

    v._update(update)
    v.assign_add(tf.ones(3))
    assert [s.numpy().tolist() for s in seen] == [[0.0] * 3, [1.0] * 3]
    assert v.numpy().tolist() == [2.0] * 3


@pytest.mark.parametrize("method", ["assign", "assign_add"])
def test_an_assignment_during_an_update_wins(method):
    v = zeros(2)

    def update(array, own):
        array += 1
        getattr(v, method)([5.0, 5.0])
        return array

    v._update(update)
    assert v.numpy()[0] == {"assign": 5.0, "assign_add": 6.0}[method]
    assert v._array_in_update is None


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_an_interrupted_update_is_complete_or_not_started():
    v, one = zeros(2000), tf.ones(2000)
    rows = tf.IndexedSlices(tf.ones(2000), tf.range(2000))
    done = 0

    def interrupt(number, frame):
        raise Sudden

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5)
                while True:
                    v.assign_add(one, read_value=False)
                    v.scatter_add(rows)
            except Sudden:
                done += 1
            value = v.numpy()
            assert value.min() == value.max()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert done == 300
    taken = []
    thread = threading.Thread(target=lambda: taken.append(v._lock.acquire(timeout=10)))
    thread.start()
    thread.join()
    assert taken == [True]


def test_threads_never_see_half_an_update():
    v, one = zeros(100_000), tf.ones(100_000)
    rows = tf.IndexedSlices(tf.ones(100_000), tf.range(100_000))
    stop, wrong, read = threading.Event(), [], []

    def look():
        while not (read and stop.is_set()):
            tensor = tf.convert_to_tensor(v)
            first = tensor.numpy()
            read.append(first[0])
            again = tensor.numpy()
            if first.min() != first.max() or first[0] != again[0] or again.min() != again.max():
                wrong.append((first, again))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        v.assign_add(one, read_value=False)
        v.scatter_add(rows)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert read
    assert v.numpy()[0] == 400.0


def test_an_update_does_not_undo_an_assignment_of_another_thread():
    v, one = zeros(50_000), tf.ones(50_000)
    negative = tf.fill((50_000,), -1e6)

    def work():
        for _ in range(200):
            v.assign_add(one, read_value=False)

    thread = threading.Thread(target=work)
    thread.start()
    v.assign(negative)
    thread.join()
    assert -1e6 <= v.numpy()[0] <= -1e6 + 200
    assert negative.numpy()[0] == -1e6


def test_an_update_that_raises_on_overflow_is_applied_once():
    v = zeros(50_000)
    v.assign_add(tf.concat([[3e38], tf.ones(49_999)], 0))
    with np.errstate(all="raise"):
        v.assign_add(tf.concat([[3e38], tf.ones(49_999)], 0))
    assert v.numpy()[0] == np.inf
    assert v.numpy()[1:].tolist() == [2.0] * 49_999


@pytest.mark.parametrize("how", ["scatter_add", "scatter_sub", "scatter_max", "scatter_update"])
def test_rows_of_a_value_in_fortrans_order(how):
    v = tf.Variable(np.zeros((40, 60), np.float32))
    v.assign(tf.transpose(tf.ones((60, 40))))
    want = tf.Variable(np.ones((40, 60), np.float32))
    slices = tf.IndexedSlices(tf.fill((40, 60), 3.0), tf.range(40))
    for _ in range(2):
        getattr(v, how)(slices)
        getattr(want, how)(slices)
    np.testing.assert_array_equal(v.numpy(), want.numpy())


def test_many_integer_and_complex_rows():
    ids = np.arange(3000) % 7
    for dtype in (np.int32, np.complex64, np.float16):
        v = tf.Variable(np.zeros((7, 2), dtype))
        v.scatter_sub(tf.IndexedSlices(np.ones((3000, 2), dtype), ids))
        assert v.numpy()[:, 0].tolist() == [-dtype(n) for n in np.bincount(ids)]
