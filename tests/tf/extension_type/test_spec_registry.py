"""Names of TypeSpecs; the expected names and errors are TensorFlow's."""

import pytest

import gradtape as tf
from gradtape.tf.extension_type import spec_registry


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (tf.TensorSpec([2, None], tf.int32, "a"), "tf.TensorSpec"),
        (tf.RaggedTensorSpec([2, None], tf.float32), "tf.RaggedTensorSpec"),
        (tf.SparseTensorSpec([2, None]), "tf.SparseTensorSpec"),
        (tf.TensorArraySpec(), "tf.TensorArraySpec"),
    ],
)
def test_specs_of_tensorflow_have_names(spec, name):
    assert spec_registry.get_name(type(spec)) == name
    assert spec_registry.lookup(name)._deserialize(spec._serialize()) == spec


def test_an_extension_type_registers_its_own_name():
    class Named(tf.experimental.ExtensionType):
        __name__ = "test.Named"
        values: tf.Tensor

    class Derived(Named):
        more: tf.Tensor

    spec = tf.type_spec_from_value(Named([1, 2]))
    assert spec_registry.get_name(Named.Spec) == "test.Named.Spec"
    assert spec_registry.lookup("test.Named.Spec")._deserialize(spec._serialize()) == spec
    with pytest.raises(ValueError, match="has not been registered"):
        spec_registry.get_name(Derived.Spec)
    with pytest.raises(ValueError, match=r"Name test\.Named\.Spec has already been registered"):

        class Other(tf.experimental.ExtensionType):
            __name__ = "test.Named"
            values: tf.Tensor


def test_wrong_names_and_classes_are_errors():
    with pytest.raises(ValueError, match=r"name 'x\.y'"):
        spec_registry.lookup("x.y")
    with pytest.raises(ValueError, match="has not been registered"):
        spec_registry.get_name(tf.data.DatasetSpec)
    with pytest.raises(ValueError, match="must have the form"):
        spec_registry.register("bad")
    with pytest.raises(ValueError, match=r"with name tf\.TensorSpec"):
        spec_registry.register("a.b")(tf.TensorSpec)
    for call in (
        lambda: spec_registry.lookup(3),
        lambda: spec_registry.register(3),
        lambda: spec_registry.get_name(3),
        lambda: spec_registry.register("a.b")(int),
    ):
        with pytest.raises(TypeError, match="Expected"):
            call()
