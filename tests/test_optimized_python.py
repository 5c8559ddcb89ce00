"""`python -OO` strips docstrings and assertions; everything works without them."""

import subprocess
import sys

PROGRAM = """
import sys, tempfile
import gradtape as tf

@tf.function
def f(x):
    if tf.reduce_sum(x) > 0:
        return x * 2.0
    return x

class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable([1.0, 2.0])

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x):
        return x * self.v

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = f(v * tf.ones(2))
pipeline = tf.data.Dataset.range(5).map(lambda x: x * 2).shuffle(3).batch(2).prefetch(1)
folder = tempfile.mkdtemp()
tf.saved_model.save(Scale(), folder)
print(sys.flags.optimize, f(tf.ones(2)).numpy(), tape.gradient(y, v).numpy())
print(sum(int(tf.reduce_sum(batch)) for batch in pipeline))
print(tf.saved_model.load(folder)(tf.constant([3.0, 4.0])).numpy())
for space in (tf, tf.math, tf.nn, tf.linalg, tf.signal, tf.image, tf.strings, tf.sparse, tf.data):
    for name in dir(space):
        getattr(space, name)
"""


def test_a_program_runs_without_docstrings():
    done = subprocess.run(
        [sys.executable, "-OO", "-c", PROGRAM], capture_output=True, text=True, timeout=300
    )
    assert done.stdout.splitlines() == ["2 [2. 2.] 4.0", "20", "[3. 8.]"], done.stderr
