"""JAX that cannot run, and settings of JAX that others made: functions work all the same."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

PROGRAM = """
import sys
import gradtape as tf
f = tf.function(lambda a: tf.reduce_sum(tf.sin(a) * tf.cos(a) + a * a))
g = tf.function(lambda a: tf.sqrt(tf.sin(a) - 2.0) + tf.cos(a))
a = tf.linspace(0., 1., 1 << 18)
for i in range(3):
    total, invalid = f(a), g(a)
print(round(float(total) / 1e4, 1), bool(tf.reduce_all(tf.math.is_nan(invalid))))
h = tf.function(lambda a: tf.sqrt(a - 2.0) * 2.0 + tf.cast(a, tf.float64)[0], jit_compile=True)
try:
    print([bool(tf.math.is_nan(h(tf.ones(3, tf.float64))[0])) for i in range(2)])
except tf.errors.InvalidArgumentError as error:
    print("JAX is installed but cannot run it" in str(error))
print(len(tf.config.list_physical_devices("CPU")))
"""


def run(path="", **settings):
    env = {**os.environ, **settings}
    env["PYTHONPATH"] = os.pathsep.join([path, *sys.path] if path else sys.path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"JAX_DEBUG_NANS": "1", "JAX_DEBUG_INFS": "1", "JAX_ENABLE_X64": "1"},
        {"JAX_TRANSFER_GUARD": "disallow", "JAX_NUMPY_RANK_PROMOTION": "raise"},
        {"JAX_CHECK_TRACER_LEAKS": "1", "JAX_NUMPY_DTYPE_PROMOTION": "strict"},
    ],
)
def test_settings_of_others_do_not_matter(settings):
    lines, log = run(**settings)
    assert lines == ["18.0 True", "[True, True]", "1"]
    assert "runs on NumPy" not in log


@pytest.mark.parametrize("settings", [{"JAX_PLATFORMS": "cuda"}, {"JAX_DISABLE_JIT": "1"}])
def test_functions_that_prefer_xla_run_on_numpy(settings):
    lines, log = run(**settings)
    assert lines == ["18.0 True", "True", "1"]
    assert log.count("JAX is installed but cannot run it") == 1


@pytest.mark.parametrize("kind", ["ImportError", "RuntimeError", "OSError", "SystemExit"])
def test_a_broken_installation_is_reported_once(kind, tmp_path):
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text(f"raise {kind}('a broken installation')\n")
    lines, log = run(str(tmp_path))
    assert lines == ["18.0 True", "True", "1"]
    assert log.count("JAX is installed but cannot run it") == 1
    assert f"{kind}: a broken installation" in log
