"""Private modules of TensorFlow that packages import."""

import importlib

import pytest

import gradtape as tf
from gradtape.dropin.private_name import SOURCES, TABLE


@pytest.mark.parametrize("module", SOURCES)
def test_every_name_of_the_table_exists(module):
    with tf.install():
        found = importlib.import_module(f"tensorflow.{module}")
        for name in SOURCES[module]:
            assert getattr(found, name) is not None
        assert set(SOURCES[module]) <= set(dir(found))


def test_every_row_says_who_imports_it():
    for row in TABLE:
        assert row.users
        assert row.names.split()


def test_other_private_names_are_errors():
    with tf.install():
        with pytest.raises(ModuleNotFoundError, match="gradtape does not have it"):
            importlib.import_module("tensorflow.python.no_such_module")
        framework = importlib.import_module("tensorflow.python.framework")
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = framework.no_such_name


def test_version_2_is_the_top_level():
    with tf.install():
        found = importlib.import_module("tensorflow.compat.v2")
        assert found.Tensor is tf.Tensor
        assert importlib.import_module("tensorflow.compat.v2.nn").relu is tf.nn.relu
        assert not hasattr(found, "pipeline")


def test_should_record_backprop():
    with tf.install():
        tape_module = importlib.import_module("tensorflow.python.eager.tape")
        x, y = tf.constant(1.0), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            assert tape_module.should_record_backprop([y, x * 2.0])
            assert not tape_module.should_record_backprop([y])
        assert not tape_module.should_record_backprop([x])
