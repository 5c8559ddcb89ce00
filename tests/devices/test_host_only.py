"""Device names on a machine without accelerators, as in TensorFlow without a GPU."""

import subprocess
import sys

import pytest

import gradtape as tf

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
MISSING = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
here = tf.config.list_physical_devices()[0]

pytestmark = pytest.mark.skipif(
    len(tf.config.list_physical_devices()) > 1, reason="there are accelerators"
)


@pytest.fixture
def hard_placement():
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(True)


def make_on_device(name):
    with tf.device(name):
        return tf.constant([1.0]) * 2, tf.Variable(1.0)


NAMES = "/GPU:0 /GPU:5 GPU gpu:0 /device:XYZ:0 /job:localhost /cpu:1 /CPU:* /device:gpu:0 /TPU:0"


@pytest.mark.parametrize("name", [*NAMES.split(), CPU, "", None])
def test_the_cpu_replaces_missing_devices(name):
    assert [thing.device for thing in make_on_device(name)] == [CPU, CPU]


@pytest.mark.parametrize("name", ["/GPU:0", "/device:XYZ:0", "/cpu:1", "/device:TPU:0"])
@pytest.mark.usefixtures("hard_placement")
def test_a_missing_device_is_an_error_without_soft_placement(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy device spec"):
        make_on_device(name)
    assert make_on_device("/CPU:*")[0].device == CPU


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("/foo:0", ValueError, "Unknown attribute 'foo' is encountered"),
        ("XYZ", ValueError, "Unknown attribute 'XYZ' is encountered"),
        ("/GPU:0:1", ValueError, "Unknown attribute 'GPU' is encountered"),
        ("/device:cpu", ValueError, "Unknown attribute 'device' is encountered"),
        ("CPU:x", ValueError, "invalid literal for int"),
        ("/task:a", ValueError, "invalid literal for int"),
        (3, ValueError, "string device name"),
        ("/job:foo", tf.errors.InvalidArgumentError, "/job:foo/replica:0/task:0/device:CPU:0"),
        ("/job:worker/task:3", tf.errors.InvalidArgumentError, "/job:worker/replica:0/task:3"),
    ],
)
def test_invalid_device_names(name, error, says):
    with pytest.raises(error, match=says):
        make_on_device(name)


def test_there_is_no_gpu():
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_logical_devices() == [tf.config.LogicalDevice("/device:CPU:0", "CPU")]
    assert tf.test.gpu_device_name() == ""
    assert not tf.test.is_gpu_available()
    with pytest.raises(RuntimeError, match="GPU:1 unknown device"):
        tf.constant(1.0).gpu(1)
    assert tf.constant(1.0).cpu().backing_device == CPU


def test_device_details_and_memory():
    experimental = tf.config.experimental
    assert experimental.get_device_details(here) == {}
    with pytest.raises(ValueError, match=r"must be a tf\.config\.PhysicalDevice"):
        experimental.get_device_details("CPU:0")
    with pytest.raises(ValueError, match="obtained from calling"):
        experimental.get_device_details(MISSING)
    with pytest.raises(ValueError, match="not available for device 'CPU:0'"):
        experimental.get_memory_info("CPU:0")
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:0'"):
        experimental.get_memory_info("GPU:0")
    with pytest.raises(ValueError, match="Failed parsing device name: 'foo'"):
        experimental.get_memory_info("foo")
    with pytest.raises(ValueError, match="Cannot set memory growth"):
        experimental.set_memory_growth(here, True)
    with pytest.raises(ValueError, match="Unrecognized device"):
        experimental.set_memory_growth(MISSING, True)
    with pytest.raises(KeyError):
        experimental.get_memory_growth(here)
    with pytest.raises(ValueError, match="Unrecognized device"):
        experimental.get_memory_growth(MISSING)


def test_visible_devices():
    tf.config.set_visible_devices([], "GPU")
    assert tf.config.get_visible_devices() == [here]
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices([MISSING], "GPU")
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices([here], "GPU")


def test_ops_log_their_device():
    program = """
import gradtape as tf
x = tf.constant([1.0, 2.0])
f = tf.function(lambda x: x * 2)
before = [x * x, f(x), f(x)]
tf.debugging.set_log_device_placement(True)
x * 3.0
assert tf.reduce_sum(x) == 3.0
tf.debugging.set_log_device_placement(False)
assert f(x).numpy().tolist() == [2.0, 4.0] and (x + x).device == x.device
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr.splitlines() == [
        f"Executing op {name} in device {CPU}" for name in ("multiply", "reduce_sum", "equal")
    ]
