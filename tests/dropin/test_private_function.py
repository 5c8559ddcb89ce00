"""Functions behind TensorFlow's private modules."""

import importlib
from collections import namedtuple

import pytest

import gradtape as tf
from gradtape.dropin import decorator, nest_function, op_function, type_spec_table
from gradtape.dropin.keras import KERAS_2_PACKAGES, is_keras_2_module

Pair = namedtuple("Pair", "first second")
DEEP = {"b": [1, (2, 3)], "a": Pair(4, [5])}


def test_paths_of_leaves():
    paths = list(nest_function.yield_flat_paths(DEEP))
    assert paths == [("a", "first"), ("a", "second", 0), ("b", 0), ("b", 1, 0), ("b", 1, 1)]
    assert nest_function.flatten_with_joined_string_paths(DEEP)[1] == ("a/second/0", 5)
    named = nest_function.map_structure_with_tuple_paths(lambda path, x: (len(path), x), [1, [2]])
    assert named == [(1, 1), [(2, 2)]]


def test_shallow_structures():
    nest_function.assert_shallow_structure([1, 2], [1, [2, 3]])
    with pytest.raises(ValueError, match="length"):
        nest_function.assert_shallow_structure([1, 2], [1, 2, 3])
    with pytest.raises(TypeError, match="sequence type"):
        nest_function.assert_shallow_structure([1, 2], (1, 2))
    with pytest.raises(TypeError, match="must also be a sequence"):
        nest_function.assert_shallow_structure([[1]], [1])
    with pytest.raises(ValueError, match="keys"):
        nest_function.assert_shallow_structure({"a": 1}, {"b": 1})
    pairs = nest_function.map_structure_with_tuple_paths_up_to(
        [0, 0], lambda path, x: (path, x), [1, [2, 3]]
    )
    assert pairs == [((0,), 1), ((1,), [2, 3])]


def test_levels():
    assert nest_function._is_namedtuple(Pair(1, 2))
    assert nest_function._sequence_like(Pair(1, 2), [3, 4]) == Pair(3, 4)
    assert nest_function._sequence_like({"b": 1, "a": 2}, [3, 4]) == {"b": 4, "a": 3}
    assert list(nest_function._yield_value({"b": 1, "a": 2})) == [2, 1]
    upper = nest_function.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), DEEP)
    assert upper == {"b": [True, False], "a": False}


def test_argument_names_of_decorated_functions():
    def plain(x: int, y: int = 2) -> int:
        return x + y

    decorated = decorator.deprecated("2020-01-01", "Use another.")(tf.function(plain))
    assert decorator.getfullargspec(plain).args == ["x", "y"]
    assert decorator.getfullargspec(plain).annotations == {}
    assert decorated is not None
    assert decorator.deprecated_alias("old", "new", plain) is plain
    with decorator.silence():
        pass


def test_type_specs():
    spec = type_spec_table.type_spec_from_value(tf.constant([1.0]))
    assert spec == tf.TensorSpec([1])
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_table.type_spec_from_value(object())
    v = tf.Variable(2.0)
    read = type_spec_table.convert_variables_to_tensors({"a": v, "b": 3})
    assert isinstance(read["a"], tf.Tensor)
    assert read["b"] == 3


def test_prevent_gradient():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = op_function.prevent_gradient(x, "no way") * 2.0
    assert float(y) == 4
    with pytest.raises(LookupError, match="no way"):
        tape.gradient(y, x)


def test_other_functions():
    shape = op_function.constant_value_as_shape(tf.constant([2, -1]))
    assert shape.as_list() == [2, None]
    assert op_function.try_evaluate_constant(tf.constant(3)) == 3
    assert op_function.pfor(lambda i: i * 2, 3).numpy().tolist() == [0, 2, 4]
    total = op_function.add_operators(
        [tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorDiag([1.0, 2.0])]
    )
    assert total[0].to_dense().numpy().tolist() == [[2, 0], [0, 3]]
    image = tf.ones([1, 3, 3, 1])
    convolve = op_function.Convolution(image.shape, (2, 2, 1, 1), "VALID")
    assert convolve(image, tf.ones([2, 2, 1, 1])).shape == (1, 2, 2, 1)


def test_keras_2_is_an_alias():
    assert is_keras_2_module("tf_keras.layers")
    assert not is_keras_2_module("tf_keras_vis")
    assert all(map(is_keras_2_module, KERAS_2_PACKAGES))


def test_scopes_of_version_1():
    v1 = tf.compat.v1
    with v1.variable_scope("outer") as scope, v1.variable_scope(v1.get_variable_scope()) as inner:
        assert (scope.name, inner.name) == ("outer", "outer")
        inner.set_caching_device("/cpu:0")
        assert tf.Variable(1.0, name="v").name == "outer/v:0"
    with v1.variable_scope(None, "default") as scope:
        assert scope.name == "default"


def test_tpu_names_refuse_to_run_without_a_tpu():
    with tf.install():
        tpu = importlib.import_module("tensorflow").tpu.experimental
        assert tpu.HardwareFeature.EmbeddingFeature.UNSUPPORTED.value == "UNSUPPORTED"
        with pytest.raises(tf.errors.NotFoundError, match="no TPU"):
            tpu.initialize_tpu_system()
        with pytest.raises(NotImplementedError, match="TPU"):
            tpu.embedding.Adam()


def test_case_helper_takes_python_predicates_on_request():
    from gradtape.dropin.op_function import case_helper

    pairs = [(False, lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))]
    assert int(case_helper(None, pairs, None, False, None, allow_python_preds=True)) == 2
    with pytest.raises(TypeError, match="bool"):
        case_helper(None, pairs, None, False, None)
