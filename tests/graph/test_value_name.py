"""Names and ops of the values of a trace."""

import gradtape as tf


def test_an_input_has_a_placeholder_op():
    kinds = []

    @tf.function
    def f(x):
        kinds.append((x.op.type, x.op.name, tf.tanh(x).op.type))
        return x

    f(tf.constant(1.0))
    assert kinds == [("Placeholder", "x", "tanh")]
