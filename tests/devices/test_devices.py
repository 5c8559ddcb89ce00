"""Programs on accelerators, simulated by additional host devices of JAX in a subprocess."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytestmark = pytest.mark.xdist_group("devices")

SCENES = Path(__file__).with_name("scenes.py")
NAMES = [
    node.name
    for node in ast.parse(SCENES.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("scene_")
]
STAND_INS = {
    "XLA_FLAGS": "--xla_force_host_platform_device_count=3",
    "GRADTAPE_STAND_IN": "GPU",
    "JAX_PLATFORMS": "cpu",
}


def run(*arguments, **environment):
    """Run a program and return its output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def results():
    """The traceback of each scene, or an empty string."""
    return json.loads(run(str(SCENES), **STAND_INS))


@pytest.mark.parametrize("name", NAMES)
def test_on_devices(name, results):
    assert not results[name], results[name]


def test_devices_can_be_hidden_before_they_are_used():
    program = """
import gradtape as tf
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[1], True)
assert tf.config.experimental.get_memory_growth(gpus[1]) is True
tf.config.set_visible_devices(gpus[1:], "GPU")
assert tf.config.get_visible_devices("GPU") == gpus[1:]
assert [d.name for d in tf.config.list_logical_devices("GPU")] == ["/device:GPU:0"]
with tf.device("/GPU:0"):
    x = tf.constant(1.0) * 2
print(x.device, x._array.device_copy[0].device.id)
"""
    printed = run("-c", program, **STAND_INS)
    assert printed == "/job:localhost/replica:0/task:0/device:GPU:0 2\n"


def test_a_program_can_request_simulated_devices():
    program = """
import gradtape as tf
tf.engine.stand_in("TPU")
with tf.device("/TPU:1"):
    print(tf.constant(1.0).device, tf.config.list_physical_devices("GPU"))
"""
    printed = run("-c", program, **{**STAND_INS, "GRADTAPE_STAND_IN": ""})
    assert printed == "/job:localhost/replica:0/task:0/device:TPU:1 []\n"


def test_jax_is_not_imported_if_it_cannot_have_accelerators():
    program = """
import sys
import gradtape as tf
tf.config.list_physical_devices("GPU"), tf.config.list_logical_devices(), tf.test.is_gpu_available()
with tf.device("/GPU:0"):
    x = tf.constant(1.0) * 2
print(x.device, "jax" in sys.modules)
"""
    printed = run("-c", program, GRADTAPE_STAND_IN="", JAX_PLATFORMS="cpu")
    assert printed == "/job:localhost/replica:0/task:0/device:CPU:0 False\n"


def test_the_users_jax_settings_are_not_changed():
    program = """
import jax, jax.numpy as jnp
before = {name: jax.config.values[name] for name in jax.config.values}
import gradtape as tf
with tf.device("/GPU:1"):
    v = tf.Variable([1.0, 2.0], dtype=tf.float64)
    step = tf.function(lambda x: v.assign_add(x * x), jit_compile=True)
    for _ in range(3):
        step(tf.ones([2], tf.float64))
assert v.numpy().dtype == "float64"
assert v.numpy().tolist() == [4.0, 5.0]
assert {name: jax.config.values[name] for name in jax.config.values} == before
print(jnp.arange(2.0).dtype, jnp.arange(2.0).device.id)
"""
    assert run("-c", program, **STAND_INS) == "float32 0\n"
