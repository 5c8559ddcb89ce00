"""Scopes, devices and queries of the runtime."""

import numpy as np
import pytest

import gradtape as tf


def test_devices_fall_back_to_the_cpu():
    for name in ("/CPU:0", "cpu", "/GPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", None):
        with tf.device(name):
            assert (tf.constant(1.0) + 1.0).device.endswith("CPU:0")
    with tf.device(tf.config.list_logical_devices("CPU")[0]):
        pass


def test_an_invalid_device_name_is_an_error():
    for name in ("bogus", 3, tf.config.list_physical_devices()[0]):
        with pytest.raises(ValueError, match="device"), tf.device(name):
            pass
    with pytest.raises(RuntimeError):
        tf.device(lambda op: "/CPU:0")


def test_there_is_one_cpu():
    (cpu,) = tf.config.list_physical_devices()
    assert (cpu.name, cpu.device_type) == ("/physical_device:CPU:0", "CPU")
    assert tf.config.list_physical_devices("GPU") == []
    with pytest.raises(ValueError, match="memory growth"):
        tf.config.experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="CPU"):
        tf.config.set_visible_devices([], "CPU")


def test_name_scopes_close_after_an_error():
    with pytest.raises(KeyError), tf.name_scope("a"):
        raise KeyError
    assert tf.Variable(1.0).name == "Variable:0"
    with pytest.raises(ValueError, match="string"):
        tf.name_scope(None)


def test_nothing_is_recorded_in_an_init_scope():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            y = x * x
        z = y * x
    assert tape.gradient(z, x).numpy() == 4.0


def test_control_dependencies_call_functions():
    called = []
    with tf.control_dependencies([tf.constant(1), lambda: called.append(1)]):
        assert called == [1]
    assert tf.group(tf.constant(1)) is None
    assert tf.no_op() is None


def test_static_values():
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value(tf.Variable(1.0)) is None
    assert tf.get_static_value(3) == 3


def test_specs_of_values():
    assert tf.type_spec_from_value(np.zeros(2)) == tf.TensorSpec([2], tf.float64)
    with pytest.raises(TypeError):
        tf.type_spec_from_value(object())


def test_time_and_mode():
    assert tf.timestamp().dtype is tf.float64
    assert tf.executing_eagerly()
    assert not tf.inside_function()
