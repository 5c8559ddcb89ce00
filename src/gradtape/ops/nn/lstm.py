"""The LSTM over all its steps as one primitive.

Hochreiter and Schmidhuber (1997), with the forget gate of Gers et al. (2000). A state is laid out
as (hidden, batch), so each gate of a step is one contiguous block, and one product computes all
four gates. The columns of `w` are in the order i, f, c, o. The saved activations of a step are in
the order i, f, o, c, followed by tanh of the new cell state.

Where `mask` is False, a step keeps the state before it. The saved activations are `MASKED_GATES`
there, whose slopes are all zero, so the rules need the mask only to pass on the cotangent of h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.ops.cotangent import compute_once, is_absent_cotangent
from gradtape.ops.elementwise import gate, logical_not
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import (
    concat,
    reshape,
    shape_of,
    slice_axis,
    stack,
    swap,
    unstack,
)

INPUT_GATE, FORGET_GATE, OUTPUT_GATE = 0, 1, 3  # blocks of the columns of `w`
MASKED_GATES = (0, 1, 0, 1, 1)  # saved activations of a masked step


def previous_states(first: Any, states: Any) -> Any:
    """The state before each step: `first` (batch, hidden), then all of `states` but the last."""
    steps, hidden, batch = shape_of(states)
    start = reshape(swap(first), shape=(1, hidden, batch), rank=2)
    return concat(start, slice_axis(states, axis=-3, start=0, size=steps - 1), axis=-3)


def states_as_rows(states: Any) -> Any:
    """Reshape states (..., steps, n, batch) to rows (..., steps * batch, n)."""
    steps, n, batch = shape_of(states)[-3:]
    return reshape(swap(states), shape=(steps * batch, n), rank=3)


def as_weight_columns(*weights: Any) -> list[Any]:
    """Reshape peephole weights (hidden,) to (hidden, 1)."""
    return [reshape(v, shape=(*shape_of(v), 1), rank=1) for v in weights]


def find_kept_steps(mask: Any) -> Any:
    """Where steps keep the state before them, as (steps, 1, batch)."""
    steps, batch = shape_of(mask)
    return reshape(logical_not(mask), shape=(steps, 1, batch), rank=2)


def pull_back_steps(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked):
    """Cotangents of the pre-activations (steps * batch, 4 * hidden), and of the first states.

    The cotangent of the first output is only the part that masked steps pass on, or None.

    `dh` and `dc` are the cotangents of a step's output and cell state. Multiplying by `to` gives
    those of its pre-activations, `to_c` is the factor of `dh` in `dc`, and `keep` the factor of
    `dc` in the step before. These factors do not depend on later steps, so they are computed for
    all steps at once. Clipping a cell state does not change its cotangent, as in TensorFlow.
    """
    g_gates, g_cs, g_h = g
    gates, cs, _ = out
    steps, hidden, batch = shape_of(cs)
    i, f, o, c, co = unstack(gates, axis=-3)
    slopes = [i * (1 - i), f * (1 - f), o * (1 - o), 1 - c * c, 1 - co * co]
    to_i, to_f, to_o = slopes[0] * c, slopes[1] * previous_states(cs_prev, cs), slopes[2] * co
    to = concat(to_i, to_f, slopes[3] * i, to_o, axis=-2)
    to_c, keep = slopes[4] * o, f
    if peephole:
        i_peep, f_peep, o_peep = as_weight_columns(wci, wcf, wco)
        to_c, keep = to_c + to_o * o_peep, f + to_i * i_peep + to_f * f_peep
    aside = carried = None  # contributions of the cotangents of the gates themselves
    if not is_absent_cotangent(g_gates):
        d_i, d_f, d_o, d_c, d_co = (
            part * slope for part, slope in zip(unstack(g_gates, axis=-3), slopes, strict=True)
        )
        aside = unstack(concat(d_i, d_f, d_c, d_o, axis=-2), axis=-3)
        g_cs = g_cs + d_co
        if peephole:
            g_cs, carried = g_cs + d_o * o_peep, unstack(d_i * i_peep + d_f * f_peep, axis=-3)
    g_cs = None if is_absent_cotangent(g_cs) else g_cs
    kept = find_kept_steps(mask) if masked else None
    back = slice_axis(w, axis=-2, start=shape_of(w)[-2] - hidden, size=hidden)
    parts = (g_h, to, to_c, keep, back)
    raw = all(type(v) is np.ndarray and v.dtype.char in "fd" for v in parts)
    if raw and aside is None and g_h.ndim == 3 and (g_cs is None or g_cs.ndim == 3):
        return pull_back_steps_raw(g_cs, kept, *parts)
    g_cs = None if g_cs is None else unstack(g_cs, axis=-3)
    g_h, to, to_c, keep = (unstack(v, axis=-3) for v in (g_h, to, to_c, keep))
    kept = None if kept is None else unstack(kept, axis=-3)
    found, dc, passed = [], None, None
    for t in reversed(range(steps)):
        dh = g_h[t] + matmul(back, found[-1]) if found else g_h[t]
        dh = dh if passed is None else dh + passed
        dc = dc + to_c[t] * dh if found else to_c[t] * dh
        dc = dc + g_cs[t] if g_cs else dc
        d = concat(dc, dc, dc, dh, axis=-2) * to[t]
        found.append(d + aside[t] if aside else d)
        dc = dc * keep[t] + carried[t] if carried else dc * keep[t]
        passed = None if kept is None else gate(dh, kept[t])
    rows = stack(*[swap(d) for d in reversed(found)], axis=-3)
    rows = reshape(rows, shape=(steps * batch, 4 * hidden), rank=3)
    return rows, swap(dc), None if passed is None else swap(passed)


def pull_back_steps_raw(
    g_cs: Any, kept: Any, g_h: Any, to: Any, to_c: Any, keep: Any, back: Any
) -> tuple[Any, Any, Any]:
    """The loop of `pull_back_steps` for raw arrays without lead axes, in preallocated arrays."""
    steps, hidden, batch = to_c.shape
    found, dc, dh, more = (np.empty(s, to.dtype) for s in (to.shape, *[to_c.shape[1:]] * 3))
    passed = None if kept is None else np.zeros(dh.shape, dh.dtype)
    blocks, slopes = (v.reshape(steps, 4, hidden, batch) for v in (found, to))
    dc.fill(0)
    for t in reversed(range(steps)):
        if t + 1 < steps:
            np.dot(back, found[t + 1], out=dh)
            dh += g_h[t]
        else:
            dh[...] = g_h[t]
        if passed is not None:
            dh += passed
            np.multiply(dh, kept[t], out=passed)
        dc += np.multiply(to_c[t], dh, out=more)
        if g_cs is not None:
            dc += g_cs[t]
        d, slope = blocks[t], slopes[t]
        np.multiply(slope[:OUTPUT_GATE], dc, out=d[:OUTPUT_GATE])
        np.multiply(slope[OUTPUT_GATE], dh, out=d[OUTPUT_GATE])
        dc *= keep[t]
    return states_as_rows(found), dc.T, None if passed is None else passed.T


def pull_back_once(g, *args):
    """The results of `pull_back_steps`, which all rules of one call share."""
    return compute_once(g, pull_back_steps, *args)


def lstm_wrt_x(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked, x_spec):
    d, *_ = pull_back_once(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked)
    inputs = slice_axis(w, axis=-2, start=0, size=x_spec.shape[-1])
    return reshape(matmul(d, swap(inputs)), shape=x_spec.shape, rank=2)


def lstm_wrt_cs_prev(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked):
    return pull_back_once(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked)[1]


def lstm_wrt_h_prev(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked, h_prev_spec, w_spec):
    d, _, passed = pull_back_once(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked)
    batch, hidden = h_prev_spec.shape
    back = slice_axis(w, axis=-2, start=w_spec.shape[-2] - hidden, size=hidden)
    first = matmul(slice_axis(d, axis=-2, start=0, size=batch), swap(back))
    return first if passed is None else first + passed


def lstm_wrt_w(g, x, cs_prev, h_prev, w, wci, wcf, wco, mask, out, peephole, masked, x_spec):
    """One product over all steps, of the inputs and previous outputs with the cotangents."""
    d, *_ = pull_back_once(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked)
    steps, batch, n = x_spec.shape
    rows = concat(
        reshape(x, shape=(steps * batch, n), rank=3),
        states_as_rows(previous_states(h_prev, out[2])),
        axis=-1,
    )
    return matmul(swap(rows), d)


def lstm_wrt_b(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked):
    d, *_ = pull_back_once(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked)
    return reduce_sum(d, axis=(-2,), keepdims=False)


def make_peephole_rule(block: int) -> Any:
    """Make the rule for a gate's peephole weights; zero if `peephole` is False."""

    def wrt(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked):
        d, *_ = pull_back_once(g, cs_prev, w, wci, wcf, wco, mask, out, peephole, masked)
        hidden = shape_of(cs_prev)[-1]
        states = states_as_rows(
            out[1] if block == OUTPUT_GATE else previous_states(cs_prev, out[1])
        )
        part = slice_axis(d, axis=-1, start=block * hidden, size=hidden) * states
        return gate(reduce_sum(part, axis=(-2,), keepdims=False), np.bool_(peephole))

    return wrt


def lstm_shapes(x, cs_prev, h_prev, *weights, **static):
    (steps, batch, _), hidden = x.shape, h_prev.shape[-1]
    return [(steps, 5, hidden, batch), (steps, hidden, batch), (steps, hidden, batch)]


@primitive(
    x=lstm_wrt_x,
    cs_prev=lstm_wrt_cs_prev,
    h_prev=lstm_wrt_h_prev,
    w=lstm_wrt_w,
    wci=make_peephole_rule(INPUT_GATE),
    wcf=make_peephole_rule(FORGET_GATE),
    wco=make_peephole_rule(OUTPUT_GATE),
    b=lstm_wrt_b,
    mask=None,
    outputs=True,
    shape=lstm_shapes,
)
def lstm(
    x, cs_prev, h_prev, w, wci, wcf, wco, b, mask, *, clip: float, peephole: bool, masked: bool
):
    """Gates (steps, 5, hidden, batch), cell states and outputs (steps, hidden, batch) of `x`.

    x is (steps, batch, n), w (n + hidden, 4 * hidden). The boolean mask (steps, batch) has an
    effect only if `masked`: where it is False, a step keeps the state before it. A step is one
    product of all weights and biases with the input, the previous output, and ones.
    """
    steps, batch, n = x.shape
    hidden = h_prev.shape[-1]
    dtype, wide = x.dtype, accumulator(x.dtype)
    x, c, h, w, wci, wcf, wco, b = (
        a.astype(wide, copy=False) for a in (x, cs_prev.T, h_prev.T, w, wci, wcf, wco, b)
    )
    weights = np.empty((4, hidden, n + hidden + 1), wide)
    weights[..., :-1] = np.take(w.T.reshape(4, hidden, n + hidden), (0, 1, 3, 2), axis=0)
    weights[..., -1] = np.take(b.reshape(4, hidden), (0, 1, 3, 2), axis=0)
    np.negative(weights[:3], out=weights[:3])  # sigmoid(z) is 1 / (1 + exp(-z))
    weights = weights.reshape(4 * hidden, n + hidden + 1)
    peeps = -np.stack([wci, wcf, wco])[..., None]
    rows = np.empty((steps + 1, n + hidden + 1, batch), wide)
    rows[:steps, :n] = x.swapaxes(1, 2)
    rows[0, n:-1] = h
    rows[:, -1] = 1
    gates, cs = np.empty((steps, 5, hidden, batch), wide), np.empty((steps, hidden, batch), wide)
    before = gates[:, :4].reshape(steps, 4 * hidden, batch)
    one, more = np.ones((), wide), np.empty((hidden, batch), wide)
    kept = ~mask if masked else None
    steps_of = zip(gates, before, rows, rows[1:, n:-1], cs, strict=False)
    for t, (now, z, row, new_h, new_c) in enumerate(steps_of):
        np.dot(weights, row, out=z)
        i, f, o, candidate, co = now
        if peephole:
            now[:2] += peeps[:2] * c
        np.tanh(candidate, out=candidate)
        sigmoid_of_minus(now[: 2 if peephole else 3], one)
        np.multiply(f, c, out=new_c)
        new_c += np.multiply(i, candidate, out=more)
        if clip > 0:
            np.clip(new_c, -clip, clip, out=new_c)
        if peephole:
            o += peeps[2] * new_c
            sigmoid_of_minus(o, one)
        np.tanh(new_c, out=co)
        np.multiply(o, co, out=new_h)
        if kept is not None:
            np.copyto(new_c, c, where=kept[t])
            np.copyto(new_h, row[n:-1], where=kept[t])
        c = new_c
    if kept is not None:
        fill_masked_gates(gates, kept)
    hs = rows[1:, n:-1].copy()
    return tuple([a.astype(dtype, copy=False) for a in (gates, cs, hs)])


def sigmoid_of_minus(x: Any, one: Any) -> None:
    """Compute sigmoid(-x) in place. Where the exponential overflows, zero is correct."""
    np.exp(x, out=x)
    x += one
    np.divide(one, x, out=x)


def fill_masked_gates(gates: Any, kept: Any) -> None:
    """Write `MASKED_GATES` into the activations of the steps that keep their state."""
    for k, value in enumerate(MASKED_GATES):
        np.copyto(gates[:, k], value, where=kept[:, None])


@lstm.lower
def lower_lstm(x, cs_prev, h_prev, w, wci, wcf, wco, b, mask, *, clip, peephole, masked):
    def sigmoid(v):
        return (np.tanh(v / 2) + 1) / 2

    dtype, wide = x.dtype, accumulator(x.dtype)
    x, c, h, w, wci, wcf, wco, b = (
        a.astype(wide) for a in (x, cs_prev, h_prev, w, wci, wcf, wco, b)
    )
    if not peephole:
        wci, wcf, wco = (np.zeros_like(p) for p in (wci, wcf, wco))
    kept = []
    for t, row in enumerate(x):
        before = c, h
        i, f, candidate, o = np.split(np.matmul(np.concatenate([row, h], 1), w) + b, 4, axis=1)
        i, f, candidate = sigmoid(i + wci * c), sigmoid(f + wcf * c), np.tanh(candidate)
        c = i * candidate + f * c
        c = np.clip(c, -clip, clip) if clip > 0 else c
        o, co = sigmoid(o + wco * c), np.tanh(c)
        h = o * co
        if masked:
            on = mask[t][:, None]
            pairs = zip((i, f, o, candidate, co), MASKED_GATES, strict=True)
            i, f, o, candidate, co = (np.where(on, v, wide.type(k)) for v, k in pairs)
            c, h = (np.where(on, v, u) for v, u in zip((c, h), before, strict=True))
        kept.append(np.stack([i, f, o, candidate, co, c, h]).swapaxes(1, 2))
    every = np.stack(kept).astype(dtype)
    return every[:, :5], every[:, 5], every[:, 6]
