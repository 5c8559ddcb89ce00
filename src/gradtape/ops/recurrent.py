"""The LSTM over all its steps as one primitive.

Hochreiter and Schmidhuber (1997), with the forget gate of Gers et al. (2000). A state is laid out
as (hidden, batch): then each gate of a step is one contiguous block, and all four of them are one
product. `w` has its columns in the order i, f, c, o; what a step keeps is in the order i, f, o, c,
and behind them tanh of the new cell state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.ops.cotangent import is_absent, once
from gradtape.ops.elementwise import gate
from gradtape.ops.linalg import matmul
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import (
    concat,
    cut,
    reshape,
    shape_of,
    stack,
    swap,
    unstack,
)

INPUT, FORGET, OUTPUT = 0, 1, 3  # blocks of the columns of `w`


def earlier(first: Any, states: Any) -> Any:
    """The state that each step began with: `first` (batch, hidden), then `states` but the last."""
    steps, hidden, batch = shape_of(states)
    start = reshape(swap(first), shape=(1, hidden, batch), rank=2)
    return concat(start, cut(states, axis=-3, start=0, size=steps - 1), axis=-3)


def rows_of(states: Any) -> Any:
    """States (..., steps, n, batch) as rows (..., steps * batch, n)."""
    steps, n, batch = shape_of(states)[-3:]
    return reshape(swap(states), shape=(steps * batch, n), rank=3)


def columns_of(*weights: Any) -> list[Any]:
    """Weights (hidden,) that act on states, as (hidden, 1)."""
    return [reshape(v, shape=(*shape_of(v), 1), rank=1) for v in weights]


def pulled(g, cs_prev, w, wci, wcf, wco, out, peephole):
    """Cotangents of the pre-activations, (steps * batch, 4 * hidden), and of the first cell state.

    With `dh` and `dc` those of a step's output and cell state, `to` turns them into those of its
    pre-activations, `to_c` is what `dh` adds to `dc`, and `keep` what is left of `dc` a step
    earlier. They do not wait for later steps, so they are computed for all at once. A clipped cell
    state passes its cotangent on, as in TensorFlow.
    """
    g_gates, g_cs, g_h = g
    gates, cs, _ = out
    steps, hidden, batch = shape_of(cs)
    i, f, o, c, co = unstack(gates, axis=-3)
    slopes = [i * (1 - i), f * (1 - f), o * (1 - o), 1 - c * c, 1 - co * co]
    to_i, to_f, to_o = slopes[0] * c, slopes[1] * earlier(cs_prev, cs), slopes[2] * co
    to = concat(to_i, to_f, slopes[3] * i, to_o, axis=-2)
    to_c, keep = slopes[4] * o, f
    if peephole:
        i_peep, f_peep, o_peep = columns_of(wci, wcf, wco)
        to_c, keep = to_c + to_o * o_peep, f + to_i * i_peep + to_f * f_peep
    aside = carried = None  # what cotangents of the gates themselves add
    if not is_absent(g_gates):
        d_i, d_f, d_o, d_c, d_co = (
            part * slope for part, slope in zip(unstack(g_gates, axis=-3), slopes, strict=True)
        )
        aside = unstack(concat(d_i, d_f, d_c, d_o, axis=-2), axis=-3)
        g_cs = g_cs + d_co
        if peephole:
            g_cs, carried = g_cs + d_o * o_peep, unstack(d_i * i_peep + d_f * f_peep, axis=-3)
    g_cs = None if is_absent(g_cs) else unstack(g_cs, axis=-3)
    g_h, to, to_c, keep = (unstack(v, axis=-3) for v in (g_h, to, to_c, keep))
    back = cut(w, axis=-2, start=shape_of(w)[-2] - hidden, size=hidden)
    found, dc = [], None
    for t in reversed(range(steps)):
        dh = g_h[t] + matmul(back, found[-1]) if found else g_h[t]
        dc = dc + to_c[t] * dh if found else to_c[t] * dh
        dc = dc + g_cs[t] if g_cs else dc
        d = concat(dc, dc, dc, dh, axis=-2) * to[t]
        found.append(d + aside[t] if aside else d)
        dc = dc * keep[t] + carried[t] if carried else dc * keep[t]
    rows = stack(*[swap(d) for d in reversed(found)], axis=-3)
    return reshape(rows, shape=(steps * batch, 4 * hidden), rank=3), swap(dc)


def lstm_wrt_x(g, cs_prev, w, wci, wcf, wco, out, peephole, x_spec):
    d, _ = once(g, pulled, cs_prev, w, wci, wcf, wco, out, peephole)
    inputs = cut(w, axis=-2, start=0, size=x_spec.shape[-1])
    return reshape(matmul(d, swap(inputs)), shape=x_spec.shape, rank=2)


def lstm_wrt_cs_prev(g, cs_prev, w, wci, wcf, wco, out, peephole):
    return once(g, pulled, cs_prev, w, wci, wcf, wco, out, peephole)[1]


def lstm_wrt_h_prev(g, cs_prev, w, wci, wcf, wco, out, peephole, h_prev_spec, w_spec):
    d, _ = once(g, pulled, cs_prev, w, wci, wcf, wco, out, peephole)
    batch, hidden = h_prev_spec.shape
    back = cut(w, axis=-2, start=w_spec.shape[-2] - hidden, size=hidden)
    return matmul(cut(d, axis=-2, start=0, size=batch), swap(back))


def lstm_wrt_w(g, x, cs_prev, h_prev, w, wci, wcf, wco, out, peephole, x_spec):
    """One product over all steps, with everything that was multiplied by `w`."""
    d, _ = once(g, pulled, cs_prev, w, wci, wcf, wco, out, peephole)
    steps, batch, n = x_spec.shape
    rows = concat(
        reshape(x, shape=(steps * batch, n), rank=3), rows_of(earlier(h_prev, out[2])), axis=-1
    )
    return matmul(swap(rows), d)


def lstm_wrt_b(g, cs_prev, w, wci, wcf, wco, out, peephole):
    d, _ = once(g, pulled, cs_prev, w, wci, wcf, wco, out, peephole)
    return reduce_sum(d, axis=(-2,), keepdims=False)


def peephole_rule(block: int) -> Any:
    """The rule of the peephole of a gate, which is zero where there are no peepholes."""

    def wrt(g, cs_prev, w, wci, wcf, wco, out, peephole):
        d, _ = once(g, pulled, cs_prev, w, wci, wcf, wco, out, peephole)
        hidden = shape_of(cs_prev)[-1]
        seen = rows_of(out[1] if block == OUTPUT else earlier(cs_prev, out[1]))
        part = cut(d, axis=-1, start=block * hidden, size=hidden) * seen
        return gate(reduce_sum(part, axis=(-2,), keepdims=False), np.bool_(peephole))

    return wrt


@primitive(
    x=lstm_wrt_x,
    cs_prev=lstm_wrt_cs_prev,
    h_prev=lstm_wrt_h_prev,
    w=lstm_wrt_w,
    wci=peephole_rule(INPUT),
    wcf=peephole_rule(FORGET),
    wco=peephole_rule(OUTPUT),
    b=lstm_wrt_b,
    outputs=True,
)
def lstm(x, cs_prev, h_prev, w, wci, wcf, wco, b, *, clip: float, peephole: bool):
    """Gates (steps, 5, hidden, batch), cell states and outputs (steps, hidden, batch) of `x`.

    x is (steps, batch, n), w (n + hidden, 4 * hidden). Sigmoids are half of 1 + tanh of half: their
    halves go into the weights, and one tanh serves all gates.
    """
    steps, batch, n = x.shape
    hidden = h_prev.shape[-1]
    dtype, wide = x.dtype, accumulator(x.dtype)
    x, c, h, w, wci, wcf, wco, b = (
        a.astype(wide, copy=False) for a in (x, cs_prev.T, h_prev.T, w, wci, wcf, wco, b)
    )
    turned = np.take(w.T.reshape(4, hidden, n + hidden), (0, 1, 3, 2), axis=0)
    bias = np.take(b.reshape(4, hidden, 1), (0, 1, 3, 2), axis=0)
    peeps = np.stack([wci, wcf, wco])[..., None] / 2
    turned[:3] /= 2
    bias[:3] /= 2
    weights = turned.reshape(4 * hidden, n + hidden)
    forward, back = weights[:, :n], np.ascontiguousarray(weights[:, n:])
    gates = np.empty((steps, 5, hidden, batch), wide)
    before = gates[:, :4].reshape(steps, 4 * hidden, batch)
    np.matmul(forward, x.swapaxes(1, 2), out=before)
    gates[:, :4] += bias
    cs, hs = (np.empty((steps, hidden, batch), wide) for _ in range(2))
    h, fresh = np.ascontiguousarray(h), np.empty((4 * hidden, batch), wide)
    for now, z, new_c, new_h in zip(gates, before, cs, hs, strict=True):
        z += np.dot(back, h, out=fresh)
        if peephole:
            now[:2] += peeps[:2] * c
            np.tanh(now[3], out=now[3])
            sigmoid_of_twice(now[:2])
        else:
            np.tanh(z, out=z)
            halfway(now[:3])
        i, f, o, candidate, co = now
        np.multiply(f, c, out=new_c)
        new_c += i * candidate
        if clip > 0:
            np.clip(new_c, -clip, clip, out=new_c)
        if peephole:
            o += peeps[2] * new_c
            sigmoid_of_twice(o)
        np.tanh(new_c, out=co)
        np.multiply(o, co, out=new_h)
        c, h = new_c, new_h
    return tuple([a.astype(dtype, copy=False) for a in (gates, cs, hs)])


def halfway(x: Any) -> None:
    """From the tanh of halves to sigmoids, in place."""
    half = x.dtype.type(0.5)
    x *= half
    x += half


def sigmoid_of_twice(x: Any) -> None:
    """Sigmoids of what was halved, in place."""
    np.tanh(x, out=x)
    halfway(x)


@lstm.lower
def lstm_lowered(x, cs_prev, h_prev, w, wci, wcf, wco, b, *, clip, peephole):
    def sigmoid(v):
        return (np.tanh(v / 2) + 1) / 2

    dtype, wide = x.dtype, accumulator(x.dtype)
    x, c, h, w, wci, wcf, wco, b = (
        a.astype(wide) for a in (x, cs_prev, h_prev, w, wci, wcf, wco, b)
    )
    if not peephole:
        wci, wcf, wco = (np.zeros_like(p) for p in (wci, wcf, wco))
    kept = []
    for row in x:
        i, f, candidate, o = np.split(np.matmul(np.concatenate([row, h], 1), w) + b, 4, axis=1)
        i, f, candidate = sigmoid(i + wci * c), sigmoid(f + wcf * c), np.tanh(candidate)
        c = i * candidate + f * c
        c = np.clip(c, -clip, clip) if clip > 0 else c
        o, co = sigmoid(o + wco * c), np.tanh(c)
        h = o * co
        kept.append(np.stack([i, f, o, candidate, co, c, h]).swapaxes(1, 2))
    every = np.stack(kept).astype(dtype)
    return every[:, :5], every[:, 5], every[:, 6]
