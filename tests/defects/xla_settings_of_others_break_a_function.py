"""A plain tf.function on large arrays must work whatever others have set for JAX: XLA is only preferred there."""

import os
import subprocess
import sys

from checking import check, end

code = """
import gradtape as tf
f = tf.function(lambda a: tf.reduce_sum(tf.sin(a) * tf.cos(a) + a * a))
a = tf.linspace(0., 1., 1 << 20)
for i in range(3): r = f(a)
print("fine", round(float(r) / 1e5, 1))
"""
for env in (
    {"JAX_DISABLE_JIT": "1"},
    {"JAX_TRANSFER_GUARD": "disallow"},
):
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True
    )
    said = (
        done.stdout.strip()
        or (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    )
    shown = " ".join(f"{k}={v}" for k, v in env.items())
    check(shown, "fine 7.2", said)
end()
