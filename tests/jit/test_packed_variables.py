"""Small variables of functions on XLA are parts of one buffer until they are read or assigned."""

import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape import engine
from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.compile.xla.packing import MAX_PACKED_VARIABLES
from gradtape.core.lazy_array import PackedArray, get_held_array

pytestmark = pytest.mark.skipif(not has_jax(), reason="jax is not installed")

SHAPES = [(2, 3), (), (4,), (1, 2, 2), (5,)]


class Model:
    """Variables of several shapes, and a function on XLA that updates them."""

    def __init__(self, jit_compile=True):
        self.variables = [tf.Variable(tf.fill(shape, 1.0 + i)) for i, shape in enumerate(SHAPES)]
        self.large = tf.Variable(tf.ones([5000]))
        self.count = tf.Variable(0)
        self.fixed = tf.Variable([2.0, 3.0])
        self.step = tf.function(self.update, jit_compile=jit_compile)

    def update(self, x):
        before = self.variables[2].read_value()
        for i, variable in enumerate(self.variables):
            variable.assign(variable * 0.5 + x * (i + 1.0))
        self.large.assign_add(tf.ones([5000]) * x)
        self.count.assign_add(1)
        self.variables[4].assign(tf.constant([1.0, 2.0, 3.0, 4.0, 5.0]) + self.fixed[0])
        return before, tf.reduce_sum(self.variables[0]) + self.fixed[1]

    def all_variables(self):
        return [*self.variables, self.large, self.count, self.fixed]

    def is_packed(self):
        return [type(get_held_array(v._value)) is PackedArray for v in self.variables]


def assert_same(model, other):
    for a, b in zip(model.all_variables(), other.all_variables(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def make_pair(calls=3):
    """A model on XLA and one on NumPy, after the same calls."""
    model, other = Model(), Model(jit_compile=False)
    for k in range(calls):
        call_both(model, other, float(k))
    return model, other


def call_both(model, other, x):
    for a, b in zip(model.step(tf.constant(x)), other.step(tf.constant(x)), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_variables_stay_in_the_buffer_between_calls():
    model, other = make_pair()
    assert model.is_packed() == [True] * 5
    assert type(get_held_array(model.large._value)) is not PackedArray
    assert type(get_held_array(model.count._value)) is not PackedArray
    assert_same(model, other)
    assert model.is_packed() == [False] * 5
    call_both(model, other, 7.0)
    assert model.is_packed() == [True] * 5
    assert_same(model, other)


@pytest.mark.parametrize("count", [1, 4])
def test_assigned_variables_return_to_the_buffer(count):
    model, other = make_pair()
    for k in range(count):
        for m in (model, other):
            m.variables[k].assign(tf.fill(SHAPES[k], 10.0 + k))
    call_both(model, other, 1.0)
    assert model.is_packed() == [True] * 5
    assert_same(model, other)


def test_a_value_that_was_read_does_not_change_later():
    model, other = make_pair()
    tensor, array = tf.convert_to_tensor(model.variables[0]), model.variables[2].numpy()
    kept, copy = tensor.numpy(), array.copy()
    view = model.variables[3]._value._array
    seen = view.copy()
    for k in range(3):
        call_both(model, other, float(k))
        model.variables[3].assign_add(tf.ones(SHAPES[3]))
        other.variables[3].assign_add(tf.ones(SHAPES[3]))
    np.testing.assert_array_equal(tensor.numpy(), kept)
    np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(view, seen)
    array[:] = 0
    assert_same(model, other)


def test_other_functions_read_packed_variables():
    model, other = make_pair()

    def read(m):
        return tf.add_n([tf.reduce_sum(v) for v in m.variables]) + m.fixed[0]

    want = read(other).numpy()
    for jit_compile in (True, False):
        function = tf.function(lambda: read(model), jit_compile=jit_compile)
        for _ in range(3):
            np.testing.assert_allclose(function().numpy(), want, rtol=1e-6)
    call_both(model, other, 2.0)
    assert_same(model, other)


def test_tapes_watch_packed_variables():
    model, other = make_pair()
    grads = []
    for m in (model, other):
        with tf.GradientTape() as tape:
            _, value = m.step(tf.constant(2.0))
            value = value + tf.reduce_sum(m.variables[2] ** 2)
        grads.append(tape.gradient(value, [m.variables[0], m.variables[2]]))
    for a, b in zip(*grads, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)
    assert_same(model, other)


def test_a_failing_call_changes_no_variable():
    variables = [tf.Variable([float(i), 1.0]) for i in range(5)]
    table = tf.constant([1.0, 2.0, 3.0])

    @tf.function
    def step(i):
        for variable in variables:
            variable.assign_add(tf.gather(table, [i, i]))

    engine.use("xla", step)
    for _ in range(3):
        step(tf.constant(1))
    assert type(get_held_array(variables[0]._value)) is PackedArray
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(5))
    assert type(get_held_array(variables[0]._value)) is PackedArray
    for i, variable in enumerate(variables):
        np.testing.assert_array_equal(variable.numpy(), [i + 6.0, 7.0])


def test_threads_lose_no_update():
    variables = [tf.Variable(tf.zeros([3])) for _ in range(6)]

    @tf.function(jit_compile=True)
    def step():
        for variable in variables:
            variable.assign_add(tf.ones([3]))

    step()
    step()

    def work():
        for k in range(50):
            step()
            if k % 10 == 0:
                variables[k % 6].numpy()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for variable in variables:
        np.testing.assert_array_equal(variable.numpy(), [202.0] * 3)


def test_variables_as_arguments_are_packed():
    @tf.function(jit_compile=True)
    def step(variables):
        for variable in variables:
            variable.assign(variable * 2.0)

    groups = [[tf.Variable([1.0 + k, 2.0]) for _ in range(5)] for k in range(2)]
    for _ in range(3):
        for group in groups:
            step(group)
    for k, group in enumerate(groups):
        for variable in group:
            np.testing.assert_array_equal(variable.numpy(), [8.0 * (1 + k), 16.0])


def test_many_variables_are_packed_in_part():
    variables = [tf.Variable([float(i)]) for i in range(MAX_PACKED_VARIABLES + 3)]

    @tf.function(jit_compile=True)
    def step():
        for variable in variables:
            variable.assign(variable + 1.0)

    for _ in range(3):
        step()
    packed = [type(get_held_array(v._value)) is PackedArray for v in variables]
    assert sum(packed) == MAX_PACKED_VARIABLES
    for i, variable in enumerate(variables):
        np.testing.assert_array_equal(variable.numpy(), [i + 3.0])
