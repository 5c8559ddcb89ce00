"""The LSTMs of tf.raw_ops equal a loop over cells, with derivatives, and check their inputs."""

import numpy as np
import pytest

import gradtape as tf

STEPS, BATCH, N, HIDDEN = 4, 3, 2, 5
NAMES = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")


def inputs():
    generator = np.random.default_rng(0)
    state, peephole = (BATCH, HIDDEN), (HIDDEN,)
    shapes = [(STEPS, BATCH, N), state, state, (N + HIDDEN, 4 * HIDDEN), *[peephole] * 3]
    values = [generator.normal(size=s).astype(np.float32) for s in (*shapes, (4 * HIDDEN,))]
    return dict(zip(NAMES, map(tf.constant, values), strict=True))


def by_cells(x, cs_prev, h_prev, w, wci, wcf, wco, b, peephole=False):
    c, h, kept = cs_prev, h_prev, []
    for row in tf.unstack(x):
        i, f, ci, o = tf.split(tf.matmul(tf.concat([row, h], 1), w) + b, 4, axis=1)
        if peephole:
            i, f = i + wci * c, f + wcf * c
        i, f, ci = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(ci)
        c = i * ci + f * c
        o = tf.sigmoid(o + wco * c if peephole else o)
        h = o * tf.tanh(c)
        kept.append((i, c, f, o, ci, tf.tanh(c), h))
    return [tf.stack(values) for values in zip(*kept, strict=True)]


def fused(given, peephole=False, **options):
    options.setdefault("seq_len_max", STEPS)
    return tf.raw_ops.BlockLSTMV2(**given, use_peephole=peephole, **options)


@pytest.mark.parametrize("peephole", [False, True])
def test_results_and_gradients_equal_those_of_a_loop_over_cells(peephole):
    given = inputs()
    sources = list(given.values())
    for k in range(7):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(sources)
            got = fused(given, peephole)[k]
            want = by_cells(**given, peephole=peephole)[k]
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        mine = tape.gradient(got, sources)
        theirs = tape.gradient(want, sources, unconnected_gradients="zero")
        for name, a, e in zip(NAMES, mine, theirs, strict=True):
            np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5, err_msg=f"{k} {name}")


def test_second_derivatives_equal_those_of_a_loop_over_cells():
    given = inputs()

    def penalty(h):
        with tf.GradientTape() as outer:
            outer.watch([given["w"], given["x"]])
            with tf.GradientTape() as inner:
                inner.watch(given["x"])
                value = tf.reduce_sum(tf.square(h()))
            slope = inner.gradient(value, given["x"])
            total = tf.reduce_sum(tf.square(slope))
        return outer.gradient(total, [given["w"], given["x"]])

    mine = penalty(lambda: fused(given).h)
    theirs = penalty(lambda: by_cells(**given)[-1])
    for a, e in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-3, atol=1e-3)


def test_jacobian_equals_that_of_a_loop_over_cells():
    given = inputs()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given["b"])
        got, want = fused(given).cs[-1], by_cells(**given)[1][-1]
    np.testing.assert_allclose(
        tape.jacobian(got, given["b"]), tape.jacobian(want, given["b"]), rtol=1e-4, atol=1e-5
    )


def test_steps_after_seq_len_max_are_zeros_with_zero_gradients():
    given = inputs()
    with tf.GradientTape() as tape:
        tape.watch(given["x"])
        out = fused(given, seq_len_max=2)
    np.testing.assert_array_equal(out.h[2:], 0)
    np.testing.assert_allclose(out.h[:2], fused(given).h[:2], rtol=1e-6)
    dx = tape.gradient(out.h, given["x"])
    assert np.all(dx[:2] != 0)
    np.testing.assert_array_equal(dx[2:], 0)


@pytest.mark.parametrize("steps", [STEPS, 0])
def test_zero_steps_give_zeros_with_zero_gradients(steps):
    given = inputs()
    given["x"] = given["x"][:steps]
    sources = list(given.values())
    with tf.GradientTape() as tape:
        tape.watch(sources)
        out = fused(given, seq_len_max=0)
    assert out.h.shape == (steps, BATCH, HIDDEN)
    for source, gradient in zip(sources, tape.gradient(out.h, sources), strict=True):
        np.testing.assert_array_equal(gradient, tf.zeros_like(source))


def test_clipping_bounds_the_state_and_passes_gradients_on():
    given = inputs()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(given["b"])
        free, clipped = fused(given, seq_len_max=1), fused(given, seq_len_max=1, cell_clip=0.1)
    assert np.max(np.abs(free.cs)) > 0.5
    assert np.max(np.abs(clipped.cs)) == np.float32(0.1)
    want = tape.gradient(free.cs, given["b"])
    np.testing.assert_allclose(tape.gradient(clipped.cs, given["b"]), want, rtol=1e-5, atol=1e-6)


def test_block_lstm_orders_gates_differently_and_adds_a_forget_bias():
    given = inputs()
    old = tf.raw_ops.BlockLSTM(seq_len_max=STEPS, **given, forget_bias=0.5, cell_clip=0)
    swapped = {**given}
    for name in ("w", "b"):
        i, c, f, o = tf.split(given[name], 4, axis=-1)
        f = f + 0.5 if name == "b" else f
        swapped[name] = tf.concat([i, f, c, o], axis=-1)
    np.testing.assert_allclose(old.h, fused(swapped).h, rtol=1e-6)
    cell = {**given, "x": given["x"][0]}
    one = tf.raw_ops.LSTMBlockCell(**cell, forget_bias=0.5, cell_clip=0)
    np.testing.assert_allclose(one.h, old.h[0], rtol=1e-6)
    assert type(one).__name__ == "LSTMBlockCell"


def test_half_precision_keeps_its_dtype():
    given = {name: tf.cast(value, tf.float16) for name, value in inputs().items()}
    out = fused(given)
    assert out.h.dtype == tf.float16
    np.testing.assert_allclose(out.h, fused(inputs()).h, atol=5e-3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"x": tf.zeros((3, 2))}, "x must be 3D"),
        ({"w": tf.zeros((3, 20))}, "w must have shape"),
        ({"b": tf.zeros(3)}, "b must have shape"),
        ({"h_prev": tf.zeros((1, HIDDEN))}, "h_prev must have shape"),
        ({"wci": tf.zeros(())}, "wci must be 1D"),
        ({"x": tf.zeros((STEPS, BATCH, N), tf.float64)}, "BlockLSTMV2"),
        ({"seq_len_max": STEPS + 1}, "seq_len_max"),
        ({"seq_len_max": [1]}, "seq_len_max"),
    ],
)
def test_invalid_inputs_are_rejected(wrong, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.raw_ops.BlockLSTMV2(**{"seq_len_max": STEPS, **inputs(), **wrong})


def test_arguments_are_keyword_only():
    with pytest.raises(TypeError):
        tf.raw_ops.BlockLSTMV2(STEPS, **inputs())


def test_a_function_computes_the_same():
    given = inputs()
    w = tf.Variable(given.pop("w"))

    def gradients(x):
        with tf.GradientTape() as tape:
            h = fused({**given, "x": x, "w": w}).h
            value = tf.reduce_sum(h * h)
        return value, tape.gradient(value, w)

    compiled = tf.function(gradients)
    for x in (given["x"], given["x"] * 2, given["x"] - 1):
        for got, want in zip(compiled(x), gradients(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)
