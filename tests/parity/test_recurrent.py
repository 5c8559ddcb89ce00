"""The LSTMs of tf.raw_ops equal TensorFlow's; gradients too, where TensorFlow's are right."""

import numpy as np
import pytest

import gradtape

tensorflow = pytest.importorskip("tensorflow")

NAMES = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
STEPS, BATCH, N, HIDDEN = 5, 3, 2, 4
OPTIONS = [
    {"use_peephole": peephole, "cell_clip": clip} for peephole in (False, True) for clip in (0, 0.4)
]


def arrays():
    generator = np.random.default_rng(0)
    state, peephole = (BATCH, HIDDEN), (HIDDEN,)
    shapes = [(STEPS, BATCH, N), state, state, (N + HIDDEN, 4 * HIDDEN)]
    shapes += [*[peephole] * 3, (4 * HIDDEN,)]
    return {
        name: generator.normal(size=shape).astype(np.float32)
        for name, shape in zip(NAMES, shapes, strict=True)
    }


def run(tf, op, **options):
    """Values of the first steps, and gradients of weighted sums of cs and h."""
    inputs = {name: tf.constant(value) for name, value in arrays().items()}
    weights = np.random.default_rng(1).normal(size=(2, STEPS, BATCH, HIDDEN)).astype(np.float32)
    with tf.GradientTape() as tape:
        tape.watch(list(inputs.values()))
        out = getattr(tf.raw_ops, op)(**inputs, **options)
        total = tf.reduce_sum(out.cs * weights[0]) + tf.reduce_sum(out.h * weights[1])
    return out, tape.gradient(total, list(inputs.values()))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("length", [STEPS, 2])
@pytest.mark.parametrize("op", ["BlockLSTM", "BlockLSTMV2"])
def test_values_are_tensorflows(op, length, options):
    length = np.int64(length)
    got, _ = run(gradtape, op, seq_len_max=length, **options)
    want, _ = run(tensorflow, op, seq_len_max=length, **options)
    assert got._fields == want._fields
    assert type(got).__name__ == type(want).__name__
    for field in got._fields:
        mine, theirs = getattr(got, field).numpy(), getattr(want, field).numpy()
        if field not in ("cs", "h"):  # TensorFlow leaves values after the length undefined
            mine, theirs = mine[:length], theirs[:length]
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6, err_msg=field)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("length", [STEPS, 2, 0])
@pytest.mark.parametrize("forget_bias", [1.0, -0.5])
def test_gradients_of_block_lstm_are_tensorflows(length, forget_bias, options):
    options = {"seq_len_max": np.int64(length), "forget_bias": forget_bias, **options}
    _, got = run(gradtape, "BlockLSTM", **options)
    _, want = run(tensorflow, "BlockLSTM", **options)
    for name, mine, theirs in zip(NAMES, got, want, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5, err_msg=name)


def test_tensorflow_swaps_two_gates_in_the_gradient_of_block_lstm_v2():
    """When this fails, delete the entry in docs/deviations.md."""
    _, got = run(gradtape, "BlockLSTMV2", seq_len_max=np.int64(1))
    _, want = run(tensorflow, "BlockLSTMV2", seq_len_max=np.int64(1))
    mine, theirs = (np.asarray(g[-1]).reshape(4, HIDDEN) for g in (got, want))
    assert not np.allclose(mine, theirs, atol=1e-3)
    np.testing.assert_allclose(mine, theirs[[0, 2, 1, 3]], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_single_step_is_tensorflows(options):
    inputs = arrays()
    inputs["x"] = inputs["x"][0]
    got = gradtape.raw_ops.LSTMBlockCell(**inputs, **options)
    want = tensorflow.raw_ops.LSTMBlockCell(**inputs, **options)
    for field in got._fields:
        mine, theirs = getattr(got, field), getattr(want, field)
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6, err_msg=field)
