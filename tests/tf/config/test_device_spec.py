"""tf.DeviceSpec."""

import pytest

import gradtape as tf


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/job:worker/replica:1/task:2/device:GPU:3", None),
        ("/job:ps/device:GPU:*", None),
        ("/gpu", "/device:GPU:*"),
        ("", None),
    ],
)
def test_names_are_parsed_and_written(name, whole):
    spec = tf.DeviceSpec.from_string(name)
    assert spec.to_string() == (name if whole is None else whole)
    assert spec == spec.replace()
    assert hash(spec) == hash(tf.DeviceSpec.from_string(name))


def test_parts():
    spec = tf.DeviceSpec.from_string("/job:worker/task:2/device:GPU:3")
    assert (spec.job, spec.replica, spec.task) == ("worker", None, 2)
    assert (spec.device_type, spec.device_index) == ("GPU", 3)
    merged = spec.make_merged_spec(tf.DeviceSpec(replica=1, device_type="cpu", device_index=0))
    assert merged.to_string() == "/job:worker/replica:1/task:2/device:CPU:0"
    assert spec.replace(job="ps").job == "ps"


@pytest.mark.parametrize("name", ["/shelf:1", "/device:GPU:1/cpu:0", "worker"])
def test_other_names_are_errors(name):
    with pytest.raises(ValueError, match="parsing"):
        tf.DeviceSpec.from_string(name)


def test_a_spec_is_a_device():
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        assert tf.constant(1.0).device.endswith("CPU:0")


def test_the_repr_names_the_parts():
    text = "<DeviceSpec(job=w, replica=None, task=None, device_type=GPU, device_index=0)>"
    assert repr(tf.DeviceSpec(job="w", device_type="gpu", device_index=0)) == text
