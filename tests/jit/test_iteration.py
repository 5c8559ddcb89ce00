"""Functions with iterators and Optionals, and with callables and cast variables as in Keras."""

import inspect

import numpy as np
import pytest

import gradtape as tf

Optional = tf.experimental.Optional


def batches():
    return tf.data.Dataset.range(1, 101).map(lambda x: tf.cast(x, tf.float32)).batch(16)


def test_an_optional_that_a_function_returns_holds_values():
    f = tf.function(lambda x: Optional.from_value({"loss": x * 2}))
    for x in (2.0, 3.0):
        assert f(tf.constant(x)).get_value()["loss"].numpy() == 2 * x


def test_an_empty_optional_comes_back_empty():
    f = tf.function(lambda x: (x, Optional.empty(tf.TensorSpec([], tf.float32))))
    assert not f(tf.constant(1.0))[1].has_value()


def test_a_loop_may_carry_optionals_to_the_end_of_the_data():
    total = tf.Variable(0.0)

    @tf.function
    def some_steps(iterator):
        def goes_on(i, _, inputs):
            return tf.logical_and(i < 3, inputs.has_value())

        def step(i, _, inputs):
            total.assign_add(tf.reduce_sum(inputs.get_value()))
            following = tf.cond(i + 1 < 3, iterator.get_next_as_optional, lambda: inputs)
            return i + 1, Optional.from_value(total.read_value()), following

        start = [tf.constant(0), Optional.empty(None), iterator.get_next_as_optional()]
        return tf.while_loop(goes_on, step, start)[1]

    iterator = iter(batches())
    sums = [float(some_steps(iterator).get_value()) for _ in range(3)]
    assert sums == [1176.0, 4656.0, 5050.0]


def test_the_call_that_creates_variables_draws_each_element_once():
    made = []

    @tf.function
    def two_steps(iterator):
        if not made:
            made.append(tf.Variable(0.0))
        for _ in range(2):
            following = iterator.get_next_as_optional()
            if following.has_value():
                made[0].assign_add(tf.reduce_sum(following.get_value()))
        return made[0] * 1.0

    iterator = iter(batches())
    assert [float(two_steps(iterator)) for _ in range(4)] == [528.0, 2080.0, 4656.0, 5050.0]


def test_sparse_elements_are_drawn_inside_a_function():
    def rows():
        for i in range(3):
            yield tf.SparseTensor([[0, i]], [float(i)], [1, 3])

    spec = tf.SparseTensorSpec([None, 3], tf.float32)
    dataset = tf.data.Dataset.from_generator(rows, output_signature=spec)
    f = tf.function(lambda iterator: tf.sparse.to_dense(iterator.get_next()))
    iterator = iter(dataset)
    found = [f(iterator).numpy().tolist() for _ in range(3)]
    assert found == [[[0, 0, 0]], [[0, 1, 0]], [[0, 0, 2]]]


def test_attributes_of_a_callable_stay_its_own():
    class Layer:
        def __init__(self):
            self._lock = True
            self._cache = None

        def __call__(self, x):
            return x + 1

    assert tf.function(Layer())(tf.constant(1.0)).numpy() == 2.0


def test_a_shape_may_be_a_part_of_a_tensor():
    @tf.function
    def f(sizes, x):
        return tf.scatter_nd([[1]], x, sizes[:1])

    for n in (3, 4):
        assert f(tf.constant([n, 2]), tf.constant([5.0])).shape == (n,)


def test_groups_of_volumes_work_in_functions_only():
    x, w = tf.ones((1, 3, 3, 3, 4)), tf.ones((2, 2, 2, 2, 6))
    out = tf.function(lambda: tf.nn.convolution(x, w), jit_compile=True)()
    np.testing.assert_array_equal(out, np.full((1, 2, 2, 2, 6), 16.0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.convolution(x, w)


def test_a_function_with_its_own_gradient_shows_its_signature():
    f = tf.recompute_grad(lambda a, b: a * b)
    assert inspect.getfullargspec(f).args == ["a", "b"]


def test_a_variable_read_in_another_dtype_is_an_argument():
    class Cast:
        """A variable that reads as a tensor of another dtype, as in Keras under autocast."""

        _should_act_as_resource_variable = True

        def __init__(self, variable):
            self._value = variable

        @property
        def handle(self):
            return (self._value * 1.0).handle

        def __tf_tensor__(self, dtype=None, name=None):
            return tf.convert_to_tensor(self._value) * 1.0

    variable = tf.Variable(3.0)

    @tf.custom_gradient
    def product(x, v):
        return x * v, lambda g, variables=None: (g * v, None)

    with tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = product(x, Cast(variable))
    assert tape.gradient(y, x).numpy() == 3.0


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (KeyError, tf.errors.UnknownError),
        (NotImplementedError, tf.errors.UnimplementedError),
    ],
)
def test_exceptions_of_a_generator_are_tensorflows(error, raised):
    def numbers():
        yield 1
        raise error("broken")

    spec = tf.TensorSpec((), tf.int32)
    iterator = iter(tf.data.Dataset.from_generator(numbers, output_signature=spec))
    assert next(iterator).numpy() == 1
    with pytest.raises(raised, match="broken"):
        next(iterator)


def test_strides_and_dilations_exclude_each_other_in_convolution():
    with pytest.raises(ValueError, match="not supported in conjunction"):
        tf.nn.convolution(tf.ones((1, 9, 9, 1)), tf.ones((3, 3, 1, 1)), strides=2, dilations=2)


def test_an_object_with_tf_tensor_method_is_no_tensor():
    class Own:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant(1.0)

    assert not tf.is_tensor(Own())
