"""Replicas on JAX's devices run as one program, with the results of lock-step replicas."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytestmark = pytest.mark.xdist_group("devices")

SCENES = Path(__file__).with_name("spmd_run.py")
NAMES = [
    node.name
    for node in ast.parse(SCENES.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("scene_")
]
FIVE_DEVICES = {
    "XLA_FLAGS": "--xla_force_host_platform_device_count=5",
    "GRADTAPE_STAND_IN": "GPU",
    "JAX_PLATFORMS": "cpu",
}


@pytest.fixture(scope="module")
def results():
    """The traceback of each scene, or an empty string."""
    done = subprocess.run(
        [sys.executable, str(SCENES)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
        env={**os.environ, **FIVE_DEVICES},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_on_devices(name, results):
    assert not results[name], results[name]
