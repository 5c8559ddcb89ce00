"""Variable: names, reading, assigning, and gradients."""

import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import gradtape as tf


def test_names_carry_their_scopes():
    with tf.name_scope("a"), tf.name_scope("b"):
        assert tf.Variable(1.0).name == "a/b/Variable:0"
        with tf.name_scope("c/"):
            assert tf.Variable(1.0, name="w").name == "c/w:0"
        with tf.name_scope(""):
            assert tf.Variable(1.0, name="w").name == "w:0"
    assert repr(tf.Variable(0.5)) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=0.5>"


def test_the_arguments_come_in_tensorflows_order():
    v = tf.Variable(1, False, True, None, "v", None, tf.float64)
    assert (v.trainable, v.name, v.dtype) == (False, "v:0", tf.float64)


@pytest.mark.parametrize(
    ("args", "options", "error"),
    [
        ((), {}, ValueError),
        (([1, 2],), {"shape": [3]}, ValueError),
        ((tf.constant(1),), {"dtype": tf.float32}, ValueError),
        ((1.5,), {"dtype": tf.int32}, TypeError),
        ((1.0,), {"constraint": 3}, ValueError),
        ((1.0,), {"aggregation": "mean"}, ValueError),
        ((1.0,), {"synchronization": "x"}, ValueError),
    ],
)
def test_bad_arguments(args, options, error):
    with pytest.raises(error):
        tf.Variable(*args, **options)


def test_an_initial_function_runs_outside_tapes():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        w = tf.Variable(lambda: v * 2.0)
    assert w.numpy() == 4.0
    assert tape.watched_variables() == ()


def test_assigning_returns_an_alias_of_the_variable():
    v = tf.Variable([1.0, 2.0])
    r = v.assign([3.0, 4.0])
    v.assign_add([1.0, 1.0])
    assert isinstance(r, tf.Variable)
    assert r.numpy().tolist() == [4.0, 5.0]
    r.assign_sub([4.0, 5.0])
    assert v.numpy().tolist() == [0.0, 0.0]
    assert repr(r).startswith("<tf.Variable 'UnreadVariable' shape=(2,)")
    assert v.assign([0.0, 0.0], read_value=False) is None


@pytest.mark.parametrize(
    ("method", "value", "error"),
    [
        ("assign", [1.0], ValueError),
        ("assign", 1.0, ValueError),
        ("assign", tf.constant([1, 2]), ValueError),
        ("assign", "a", TypeError),
        ("assign", None, ValueError),
        ("assign_add", [1.0], tf.errors.InvalidArgumentError),
        ("assign_sub", 1.0, tf.errors.InvalidArgumentError),
        ("assign_add", tf.constant([1, 2]), ValueError),
    ],
)
def test_a_failed_assignment_changes_nothing(method, value, error):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(error):
        getattr(v, method)(value)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_unknown_dimensions_may_change():
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    v.assign(np.zeros((3, 2)))
    assert v.shape.as_list() == [None, 2]
    assert v.numpy().shape == (3, 2)
    with pytest.raises(ValueError, match="shape"):
        v.assign(np.zeros((3, 3)))


def test_integers_wrap_and_floats_overflow_without_warnings():
    small = tf.Variable(100, dtype=tf.int8)
    assert small.assign_add(100).numpy() == -56
    assert tf.Variable(3e38).assign_add(3e38).numpy() == np.inf


def test_values_do_not_alias():
    array = np.array([1.0, 2.0])
    v = tf.Variable(array)
    array[0] = 9.0
    v.numpy()[0] = 9.0
    t = tf.constant([5.0, 6.0], tf.float64)
    assert v.numpy().tolist() == [1.0, 2.0]
    v.assign(t).assign_add([1.0, 1.0])
    assert t.numpy().tolist() == [5.0, 6.0]


def test_a_tensor_read_earlier_is_a_constant_later():
    v = tf.Variable(3.0)
    for old in (tf.convert_to_tensor(v), v.value(), v.read_value(), tf.constant(v)):
        with tf.GradientTape() as tape:
            y = v * old
        assert tape.gradient(y, v).numpy() == 3.0


def test_a_tensor_read_inside_is_its_own_source():
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        w = tf.convert_to_tensor(v)
        y = w * v
    assert tape.gradient(y, w).numpy() == 2.0
    assert tape.gradient(y, v).numpy() == 4.0


def test_an_assignment_stops_the_gradient_and_keeps_residuals():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(y)
        z = y + 5.0 * v
    assert tape.gradient(z, v).numpy() == 9.0


def test_assigning_counts_as_reading_if_something_is_returned():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        v.assign(2.0, read_value=False)
    assert tape.watched_variables() == ()
    with tf.GradientTape() as tape:
        v.assign(2.0)
    assert [w is v for w in tape.watched_variables()] == [True]


def test_slices_can_be_assigned():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v[0].assign(9.0)
    v[tf.constant(1), 1:].assign([7.0])
    v[:, tf.newaxis, 0].assign([[5.0], [6.0]])
    assert v.numpy().tolist() == [[5.0, 9.0], [6.0, 7.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        v[0].assign([1.0, 2.0, 3.0])
    with pytest.raises(AttributeError):
        v[v > 1.0].assign(0.0)


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("scatter_add", [3.0, 2.0, 7.0]),
        ("scatter_sub", [-1.0, 2.0, -1.0]),
        ("scatter_mul", [1.0, 2.0, 12.0]),
        ("scatter_div", [1.0, 2.0, 0.75]),
        ("scatter_max", [1.0, 2.0, 4.0]),
        ("scatter_min", [1.0, 2.0, 3.0]),
        ("scatter_update", [1.0, 2.0, 4.0]),
    ],
)
def test_rows_are_scattered_one_after_another(method, result):
    v = tf.Variable([1.0, 2.0, 3.0])
    slices = tf.IndexedSlices(tf.constant([1.0, 1.0, 4.0]), tf.constant([0, 0, 2]))
    assert getattr(v, method)(slices).numpy().tolist() == result


def test_scatters_check_before_they_write():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 5"):
        v.scatter_add(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0, 5])))
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_add(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0])))
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_add(tf.constant([1.0, 1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="index"):
        v.scatter_nd_add([[2]], [1.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_positions_are_scattered():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.scatter_nd_update([[0, 1]], [9.0])
    v.scatter_nd_add([[1], [1]], [[1.0, 1.0], [1.0, 1.0]])
    v.scatter_nd_max([[0, 0]], [5.0])
    assert v.numpy().tolist() == [[5.0, 9.0], [5.0, 6.0]]
    rows = tf.IndexedSlices(tf.constant([[0.0], [0.0]]), tf.constant([[1], [0]]))
    assert v.batch_scatter_update(rows).numpy().tolist() == [[5.0, 0.0], [0.0, 6.0]]


def test_integer_division_truncates():
    v = tf.Variable([7, -7])
    v.scatter_div(tf.IndexedSlices(tf.constant([2, 2]), tf.constant([0, 1])))
    assert v.numpy().tolist() == [3, -3]


def test_operators_read_the_variable():
    v = tf.Variable(7)
    results = [v + 1, 1 - v, v * v, v // 2, 9 % v, -v, abs(-v), v & 3, ~v, v < 8, v == 7]
    expected = [8, -6, 49, 3, 2, -7, 7, 3, -8, True, True]
    assert [r.numpy() for r in results] == expected
    assert (np.float32(2) * tf.Variable([1.0])).numpy() == 2.0
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1


def test_variables_have_no_hash_but_references():
    v = tf.Variable(1.0)
    assert {v.ref(): 1}[v.ref()] == 1
    assert v.handle == v.handle
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)


def test_copies():
    v = tf.Variable([1.0], name="v", trainable=False, shape=[None])
    assert copy.copy(v) is v
    both = copy.deepcopy([v, v])
    again = pickle.loads(pickle.dumps(v))
    v.assign([2.0])
    assert both[0] is both[1]
    for other in (both[0], again):
        assert other.numpy().tolist() == [1.0]
        assert (other.name, other.trainable, other.shape.as_list()) == ("v:0", False, [None])


def test_additions_from_threads_are_not_lost():
    v = tf.Variable(np.zeros(1000))
    one = tf.ones(1000, tf.float64)

    def work():
        for _ in range(100):
            v.assign_add(one, read_value=False)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert v.numpy().tolist() == [400.0] * 1000


def test_a_variable_is_freed_without_the_garbage_collector():
    v = tf.Variable([1.0])
    gone = weakref.ref(v)
    gc.disable()
    try:
        v.assign([2.0])
        del v
        assert gone() is None
    finally:
        gc.enable()


def test_the_type_of_a_variable_has_tensorflows_name_and_can_be_pickled():
    v = tf.Variable(3.0)
    assert type(v).__name__ == "ResourceVariable"
    assert pickle.loads(pickle.dumps(tf.Variable)) is tf.Variable


def test_a_subclass_with_its_own_storage_is_read_by_its_registered_conversion(monkeypatch):
    class Alias(tf.Variable):
        def __init__(self, value):
            self.own = value

        shape = property(lambda self: self.own.shape)
        dtype = property(lambda self: self.own.dtype)

    monkeypatch.setattr("gradtape.core.convert.CONVERSIONS", [])
    x = Alias(tf.constant([[2.0]]))
    with pytest.raises((AttributeError, TypeError), match="register_tensor_conversion_function"):
        tf.cast(x, tf.float64)
    tf.register_tensor_conversion_function(Alias, lambda value, dtype, name, as_ref: value.own)
    assert float(tf.matmul(x, x)[0, 0]) == 4.0
    assert float((1.0 + tf.cast(x, tf.float32))[0, 0]) == 3.0
