"""`gradtape verify` compares a program with TensorFlow itself."""

import pytest

from gradtape.dropin.verify import verify_program

pytest.importorskip("tensorflow")

AGREES = """
import tensorflow as tf
v = tf.Variable([1.0, 2.0])
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.exp(v) * v)
    v.assign_sub(0.01 * tape.gradient(loss, v))
    print("loss", float(loss), v.numpy())
print(tf.function(lambda x: x * 2)(v))
"""
DIVERGES = """
import tensorflow as tf
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * (3.0 if hasattr(tape, "summary") else 2.0)
g = tape.gradient(y, x)
"""


@pytest.mark.filterwarnings("ignore")
def test_programs_agree_or_diverge(tmp_path, capsys):
    for name, text, status in (("same", AGREES, 0), ("other", DIVERGES, 1)):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        assert verify_program([str(path)]) == status
    output = capsys.readouterr().out
    assert "agree: 4 printed lines, 3 gradients" in output
    assert "other.py:7: gradient 0[0]" in output
    assert "gradtape:   3.0" in output
    assert "TensorFlow: 2.0" in output
