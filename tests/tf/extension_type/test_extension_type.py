"""tf.experimental.ExtensionType: fields, functions, control flow, specs and errors."""

import pickle
import typing

import numpy as np
import pytest

import gradtape as tf


class Masked(tf.experimental.ExtensionType):
    """Values, some of which do not count."""

    values: tf.Tensor
    mask: tf.Tensor

    def fill(self, default):
        return tf.where(self.mask, self.values, default)

    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)


class Settings(tf.experimental.ExtensionType):
    """One field of each kind."""

    x: tf.Tensor
    n: int = 3
    sizes: tuple[int, ...] = (1, 2)
    extra: typing.Optional[tf.Tensor] = None  # noqa: UP045 - both spellings are tested
    table: typing.Mapping[str, tf.Tensor] = {}
    inner: Masked | tf.RaggedTensor | None = None
    kind: tf.DType = tf.float32


MASKED = Masked([1, 2, 3], [True, False, True])


def test_fields_are_converted_and_fixed():
    assert MASKED.fill(9).numpy().tolist() == [1, 9, 3]
    with pytest.raises(AttributeError, match="Cannot mutate attribute `values`"):
        MASKED.values = 3
    with pytest.raises(AttributeError):
        del MASKED.mask
    made = Settings([1.0], 4, [3], 2.0, {"k": [1]}, MASKED)
    assert (made.n, made.sizes, made.kind) == (4, (3,), tf.float32)
    assert made.table["k"].numpy().tolist() == [1]
    assert made.inner is MASKED
    assert Settings([1.0]).extra is None


def test_equality_is_a_tensor():
    same = Masked([1, 2, 3], [True, False, True])
    assert (same == MASKED).numpy()
    assert not (same != MASKED).numpy()
    assert not (Masked([1, 2, 4], [True, False, True]) == MASKED).numpy()
    assert (MASKED == 3) is False
    assert (Settings(1.0, 4) == Settings(1.0, 5)) is False
    with pytest.raises(TypeError, match="unhashable"):
        hash(MASKED)


def test_functions_take_and_return_them():
    traces = []

    @tf.function
    def double(m):
        traces.append(1)
        return Masked(m.values * 2, tf.logical_not(m.mask))

    assert double(double(MASKED)).values.numpy().tolist() == [4, 8, 12]
    double(Masked([7, 8, 9], [True] * 3))
    assert len(traces) == 1
    double(Masked([7], [True]))
    assert len(traces) == 2


def test_a_constant_field_is_part_of_the_signature():
    scale = tf.function(lambda s: s.x * s.n)
    assert scale(Settings([1.0, 2.0], 5)).numpy().tolist() == [5, 10]
    assert scale(Settings([1.0, 2.0], 6)).numpy().tolist() == [6, 12]


def test_specs():
    spec = tf.type_spec_from_value(MASKED)
    assert spec == Masked.Spec(tf.TensorSpec([3], tf.int32), tf.TensorSpec([3], tf.bool))
    assert spec.values == tf.TensorSpec([3], tf.int32)
    open_spec = Masked.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))
    assert open_spec.is_compatible_with(MASKED)
    assert repr(open_spec).startswith("Masked.Spec(values=TensorSpec(shape=(None,)")
    fill = tf.function(lambda m: m.fill(0), input_signature=[open_spec])
    assert fill(MASKED).numpy().tolist() == [1, 0, 3]
    assert fill(Masked([5], [False])).numpy().tolist() == [0]
    assert pickle.loads(pickle.dumps(open_spec)) == open_spec


def test_nest_control_flow_and_gradients():
    assert tf.nest.flatten(MASKED) == [MASKED] or tf.nest.flatten(MASKED)[0] is MASKED
    assert len(tf.nest.flatten(MASKED, expand_composites=True)) == 2
    other = Masked([4, 5, 6], [True] * 3)
    pick = tf.function(lambda c: tf.cond(c, lambda: MASKED, lambda: other).values)
    assert pick(tf.constant(False)).numpy().tolist() == [4, 5, 6]
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = Masked(x * x, [True, False]).fill(0.0)
    np.testing.assert_array_equal(tape.gradient(y, x), [2, 0])


def test_constructors_of_the_user():
    class Scaled(tf.experimental.ExtensionType):
        v: tf.Tensor

        def __init__(self, v, scale=1):
            self.v = tf.convert_to_tensor(v) * scale

    class Wider(Scaled):
        label: str = "a"

        def __init__(self, v):
            super().__init__(v, 3.0)
            self.label = "b"

    assert Scaled([1.0], 2.0).v.numpy().tolist() == [2]
    assert (Wider([1.0]).v.numpy().tolist(), Wider([1.0]).label) == ([3], "b")
    assert list(tf.experimental.extension_type.as_dict(Wider([1.0]))) == ["v", "label"]


def test_errors():
    with pytest.raises(ValueError, match="incompatible"):
        Masked([1, 2], [True])
    with pytest.raises(TypeError, match="mask"):
        Masked([1, 2])
    with pytest.raises(TypeError, match="n: expected 'int', got 'str'"):
        Settings(1.0, n="x")
    with pytest.raises(AssertionError, match="abstract base"):
        tf.experimental.ExtensionType()

    class Empty(tf.experimental.ExtensionType):
        v: tf.Tensor

        def __init__(self):
            pass

    with pytest.raises(ValueError, match="Missing required fields"):
        Empty()
    with pytest.raises(TypeError, match="Unsupported type annotation 'list'"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"x": list}})
    with pytest.raises(ValueError, match="reserved"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"Spec": int}})
