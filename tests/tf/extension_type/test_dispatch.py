"""Functions of the user that replace public functions for the user's own types."""

from typing import List, Union  # noqa: UP035 - both spellings must work

import pytest

import gradtape as tf

experimental = tf.experimental
TensorLike = tf.types.experimental.TensorLike


class Masked(experimental.ExtensionType):
    """Values with a mask."""

    values: tf.Tensor
    mask: tf.Tensor

    __add__ = tf.math.add


def parts_of(masked):
    return masked.values.numpy().tolist(), masked.mask.numpy().tolist()


A = Masked([1.0, -2.0, 3.0], [True, False, True])
B = Masked([1.0, 1.0, 4.0], [True, True, False])


@pytest.fixture
def register():
    """Registers functions until the end of the test."""
    registered = []

    def add(decorator):
        def decorate(function):
            registered.append(decorator(function))
            return function

        return decorate

    yield add
    for function in registered:
        experimental.unregister_dispatch_for(function)


@pytest.fixture
def elementwise(register):
    @register(experimental.dispatch_for_unary_elementwise_apis(Masked))
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    @register(experimental.dispatch_for_binary_elementwise_apis(Masked, Masked))
    def binary(api, x, y):
        return Masked(api(x.values, y.values), x.mask & y.mask)

    @register(experimental.dispatch_for_binary_elementwise_apis(Masked, TensorLike))
    def with_tensor(api, x, y):
        return Masked(api(x.values, y), x.mask)

    @register(experimental.dispatch_for_binary_elementwise_apis(TensorLike, Masked))
    def to_tensor(api, x, y):
        return Masked(api(x, y.values), y.mask)


def test_unary_functions(elementwise):
    assert parts_of(tf.abs(A)) == ([1, 2, 3], [True, False, True])
    assert parts_of(tf.nn.leaky_relu(A, alpha=0.5))[0] == [1, -1, 3]
    assert parts_of(tf.clip_by_value(A, 0.0, 1.0))[0] == [1, 0, 1]
    assert tf.cast(A, tf.int32).values.dtype == tf.int32


def test_binary_functions_and_operators(elementwise):
    assert parts_of(tf.add(A, B)) == ([2, -1, 7], [True, False, False])
    assert parts_of(A + 1.0)[0] == [2, -1, 4]
    assert parts_of(tf.constant(2.0) + A)[0] == [3, 0, 5]
    assert parts_of(A - tf.constant(2.0))[0] == [-1, -4, 1]  # the class has no `__sub__`
    assert parts_of(tf.constant(2.0) * A)[0] == [2, -4, 6]
    assert parts_of(tf.math.maximum(A, B))[0] == [1, 1, 4]


def test_dispatch_inside_a_function_and_under_a_tape(elementwise):
    x = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def loss(masked):
        return tf.reduce_sum(tf.square(Masked(x * 2.0, masked.mask) + masked).values)

    with tf.GradientTape() as tape:
        value = loss(A)
    assert tape.gradient(value, x).numpy().tolist() == [12, 8, 36]


def test_assertions(register):
    @register(experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked))
    def compare(api, x, y):
        return api(x.values, y.values)

    tf.debugging.assert_equal(A, A)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_equal(A, B)


def test_a_list_of_values(register):
    @register(experimental.dispatch_for_api(tf.concat))
    def concat(values: List[Masked], axis, name="concat"):  # noqa: UP006
        return Masked(
            *(tf.concat([getattr(v, f) for v in values], axis) for f in ("values", "mask"))
        )

    assert parts_of(tf.concat([A, B], 0))[0] == [1, -2, 3, 1, 1, 4]
    assert tf.concat([[1], [2]], 0).numpy().tolist() == [1, 2]


def test_signatures_replace_annotations(register):
    @register(experimental.dispatch_for_api(tf.shape, {"input": Masked}))
    def shape(input, out_type=tf.int32):
        return tf.shape(input.values, out_type)

    assert tf.shape(A, tf.int64).numpy().tolist() == [3]


def test_classes_of_other_kinds_and_unions(register):
    class Plain:
        pass

    @register(experimental.dispatch_for_api(tf.multiply))
    def multiply(x: Union[Plain, float], y: Plain):  # noqa: UP007
        return "product"

    assert tf.multiply(2.0, Plain()) == tf.multiply(Plain(), Plain()) == "product"
    with pytest.raises(ValueError, match="unsupported type"):
        tf.multiply(Plain(), 2.0)


def test_without_a_function_conversion_fails(elementwise):
    with pytest.raises(ValueError, match="unsupported type"):
        tf.reduce_sum(A)


def test_unregistered_functions_are_not_called():
    @experimental.dispatch_for_api(tf.reduce_sum)
    def total(input_tensor: Masked, axis=None, keepdims=False):
        return "total"

    assert tf.reduce_sum(A) == "total"
    experimental.unregister_dispatch_for(total)
    with pytest.raises(ValueError, match="unsupported type"):
        tf.reduce_sum(A)
    with pytest.raises(ValueError, match="not registered"):
        experimental.unregister_dispatch_for(total)


def test_wrong_registrations(elementwise):
    with pytest.raises(ValueError, match="does not match"):
        experimental.dispatch_for_api(tf.shape)(lambda x: x)
    with pytest.raises(ValueError, match="does not support dispatch"):
        experimental.dispatch_for_api(len)
    with pytest.raises(ValueError, match="at least one type annotation"):
        experimental.dispatch_for_api(tf.square)(lambda x: x)
    with pytest.raises(ValueError, match="already been registered"):
        experimental.dispatch_for_unary_elementwise_apis(Masked)(lambda api, x: x)


def test_several_matching_functions_raise(register):
    for _ in range(2):

        @register(experimental.dispatch_for_api(tf.square))
        def square(x: Masked):
            return x

    with pytest.raises(ValueError, match="Multiple dispatch targets"):
        tf.square(A)
