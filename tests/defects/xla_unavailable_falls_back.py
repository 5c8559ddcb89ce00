"""A plain tf.function on large arrays must work where JAX cannot run: XLA is only preferred there."""

import os
import subprocess
import sys
import tempfile

from checking import check, end

code = """
import gradtape as tf
f = tf.function(lambda a: tf.reduce_sum(tf.sin(a) * tf.cos(a) + a * a))
a = tf.linspace(0., 1., 1 << 20)
for i in range(3): r = f(a)
print("fine", round(float(r) / 1e5, 1))
"""
broken = tempfile.mkdtemp()
os.mkdir(os.path.join(broken, "jax"))
with open(os.path.join(broken, "jax", "__init__.py"), "w") as file:
    file.write("raise ImportError('a broken installation')\n")
for env in (
    {"JAX_PLATFORMS": "cuda"},
    {"PYTHONPATH": os.pathsep.join([broken, os.environ.get("PYTHONPATH", "")])},
):
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True
    )
    said = (
        done.stdout.strip()
        or (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    )
    shown = " ".join(f"{k}={'a broken jax' if broken in v else v}" for k, v in env.items())
    check(shown, "fine 7.2", said)
end()
