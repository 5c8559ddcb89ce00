"""The GRU over all its steps as one primitive.

Cho et al. (2014), with the reset gate after the recurrent product. The layout is that of `lstm`:
states are (hidden, batch), and the columns of the weights are in the order z, r, candidate. The
saved activations of a step are z, r, the candidate, and the candidate's recurrent product `inner`.

Where `mask` is False, a step keeps the state before it. The saved activations are `MASKED_GATES`
there, with which the rules pass the cotangent of the state on unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dtypes import accumulator
from gradtape.core.primitive import primitive
from gradtape.ops.cotangent import compute_once, is_absent_cotangent
from gradtape.ops.elementwise import gate
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.nn.lstm import previous_states, sigmoid_of_minus, states_as_rows
from gradtape.ops.reduce import reduce_sum
from gradtape.ops.shape import concat, reshape, shape_of, stack, swap, unstack

MASKED_GATES = (1, 0, 1, 0)  # saved activations of a masked step


def pull_back_gru(g, h_prev, u, mask, out, masked):
    """Cotangents of both pre-activations, (steps * batch, 3 * hidden), and of the first state.

    `dh` is the cotangent of a step's state. Multiplying by `to_x` and `to_u` gives those of the
    products with the input and with the state. These factors do not depend on later steps.
    """
    g_gates, g_h = g
    gates, hs = out
    steps, hidden, batch = shape_of(hs)
    z, r, c, inner = unstack(gates, axis=-3)
    slope_z, slope_r, slope_c = z * (1 - z), r * (1 - r), 1 - c * c
    to_c = (1 - z) * slope_c
    to_z, to_r = (previous_states(h_prev, hs) - c) * slope_z, to_c * inner * slope_r
    to_x = concat(to_z, to_r, to_c, axis=-2)
    to_u = concat(to_z, to_r, to_c * r, axis=-2)
    aside_x = aside_u = None  # contributions of the cotangents of the gates themselves
    if not is_absent_cotangent(g_gates):
        d_z, d_r, d_c, d_inner = unstack(g_gates, axis=-3)
        d_z, d_c = d_z * slope_z, d_c * slope_c
        d_r = d_r * slope_r + d_c * inner * slope_r
        if masked:
            d_inner = gate(d_inner, reshape(mask, shape=(steps, 1, batch), rank=2))
        aside_x = unstack(concat(d_z, d_r, d_c, axis=-2), axis=-3)
        aside_u = unstack(concat(d_z, d_r, d_c * r + d_inner, axis=-2), axis=-3)
    parts = (g_h, to_x, to_u, z, u)
    raw = all(type(v) is np.ndarray and v.dtype.char in "fd" for v in parts)
    if raw and aside_x is None and g_h.ndim == 3:
        return pull_back_gru_raw(*parts)
    g_h, to_x, to_u, z = (unstack(v, axis=-3) for v in (g_h, to_x, to_u, z))
    found_x, found_u, carried = [], [], None
    for t in reversed(range(steps)):
        dh = g_h[t] if carried is None else g_h[t] + carried
        wide = concat(dh, dh, dh, axis=-2)
        dx, du = wide * to_x[t], wide * to_u[t]
        found_x.append(dx + aside_x[t] if aside_x else dx)
        found_u.append(du + aside_u[t] if aside_u else du)
        carried = dh * z[t] + matmul(u, found_u[-1])
    rows = (stack(*[swap(d) for d in reversed(v)], axis=-3) for v in (found_x, found_u))
    rows_x, rows_u = (reshape(v, shape=(steps * batch, 3 * hidden), rank=3) for v in rows)
    return rows_x, rows_u, swap(carried)


def pull_back_gru_raw(g_h: Any, to_x: Any, to_u: Any, z: Any, u: Any) -> tuple[Any, Any, Any]:
    """The loop of `pull_back_gru` for raw arrays without lead axes, in place."""
    steps, hidden, batch = z.shape
    blocks_x, blocks_u = (v.reshape(steps, 3, hidden, batch) for v in (to_x, to_u))
    dh, more = np.zeros(z.shape[1:], to_x.dtype), np.empty(z.shape[1:], to_x.dtype)
    for t in reversed(range(steps)):
        dh += g_h[t]
        blocks_x[t] *= dh
        blocks_u[t] *= dh
        dh *= z[t]
        dh += np.dot(u, to_u[t], out=more)
    return states_as_rows(to_x), states_as_rows(to_u), dh.T


def gru_wrt_x(g, h_prev, w, u, mask, out, masked, x_spec):
    rows, *_ = compute_once(g, pull_back_gru, h_prev, u, mask, out, masked)
    return reshape(matmul(rows, swap(w)), shape=x_spec.shape, rank=2)


def gru_wrt_h_prev(g, h_prev, u, mask, out, masked):
    return compute_once(g, pull_back_gru, h_prev, u, mask, out, masked)[2]


def gru_wrt_w(g, x, h_prev, u, mask, out, masked, x_spec):
    rows, *_ = compute_once(g, pull_back_gru, h_prev, u, mask, out, masked)
    steps, batch, n = x_spec.shape
    return matmul(swap(reshape(x, shape=(steps * batch, n), rank=3)), rows)


def gru_wrt_u(g, h_prev, u, mask, out, masked):
    _, rows, _ = compute_once(g, pull_back_gru, h_prev, u, mask, out, masked)
    return matmul(swap(states_as_rows(previous_states(h_prev, out[1]))), rows)


def make_bias_rule(which: int) -> Any:
    """Make the rule for the bias of the inputs (0) or of the states (1)."""

    def wrt(g, h_prev, u, mask, out, masked):
        rows = compute_once(g, pull_back_gru, h_prev, u, mask, out, masked)[which]
        return reduce_sum(rows, axis=(-2,), keepdims=False)

    return wrt


def gru_shapes(x, h_prev, *weights, **static):
    (steps, batch, _), hidden = x.shape, h_prev.shape[-1]
    return [(steps, 4, hidden, batch), (steps, hidden, batch)]


@primitive(
    x=gru_wrt_x,
    h_prev=gru_wrt_h_prev,
    w=gru_wrt_w,
    u=gru_wrt_u,
    b=make_bias_rule(0),
    bu=make_bias_rule(1),
    mask=None,
    outputs=True,
    shape=gru_shapes,
)
def gru(x, h_prev, w, u, b, bu, mask, *, masked: bool):
    """Gates (steps, 4, hidden, batch) and states (steps, hidden, batch) of `x`.

    x is (steps, batch, n), w (n, 3 * hidden), u (hidden, 3 * hidden). The boolean mask
    (steps, batch) has an effect only if `masked`.
    """
    steps, batch, n = x.shape
    hidden = h_prev.shape[-1]
    dtype, wide = x.dtype, accumulator(x.dtype)
    x, h, w, u, b, bu = (a.astype(wide, copy=False) for a in (x, h_prev.T, w, u, b, bu))
    sign = np.ones((3 * hidden, 1), wide)
    sign[: 2 * hidden] = -1  # sigmoid(z) is 1 / (1 + exp(-z))
    weights = np.concatenate([w.T, b[:, None]], axis=1) * sign
    back, back_bias = u.T * sign, bu[:, None] * sign
    rows = np.empty((steps, n + 1, batch), wide)
    rows[:, :n] = x.swapaxes(1, 2)
    rows[:, n] = 1
    gates, hs = np.empty((steps, 4, hidden, batch), wide), np.empty((steps, hidden, batch), wide)
    product = np.empty((3 * hidden, batch), wide)
    one, kept = np.ones((), wide), ~mask if masked else None
    for t, (now, new_h) in enumerate(zip(gates, hs, strict=True)):
        z, _, candidate, inner = now
        np.dot(weights, rows[t], out=now[:3].reshape(3 * hidden, batch))
        np.dot(back, h, out=product)
        product += back_bias
        inner[...] = product[2 * hidden :]
        now[:2] += product[: 2 * hidden].reshape(2, hidden, batch)
        sigmoid_of_minus(now[:2], one)
        candidate += np.multiply(now[1], inner, out=new_h)
        np.tanh(candidate, out=candidate)
        np.subtract(h, candidate, out=new_h)
        new_h *= z
        new_h += candidate
        if kept is not None:
            np.copyto(new_h, h, where=kept[t])
            for k, value in enumerate(MASKED_GATES):
                np.copyto(now[k], value, where=kept[t])
        h = new_h
    return tuple([a.astype(dtype, copy=False) for a in (gates, hs)])


@gru.lower
def lower_gru(x, h_prev, w, u, b, bu, mask, *, masked):
    def sigmoid(v):
        return (np.tanh(v / 2) + 1) / 2

    dtype, wide = x.dtype, accumulator(x.dtype)
    x, h, w, u, b, bu = (a.astype(wide) for a in (x, h_prev, w, u, b, bu))
    found = []
    for t, row in enumerate(x):
        before = h
        z, r, candidate = np.split(np.matmul(row, w) + b, 3, axis=1)
        u_z, u_r, inner = np.split(np.matmul(h, u) + bu, 3, axis=1)
        z, r = sigmoid(z + u_z), sigmoid(r + u_r)
        candidate = np.tanh(candidate + r * inner)
        h = candidate + z * (h - candidate)
        now = [z, r, candidate, inner]
        if masked:
            on = mask[t][:, None]
            now = [np.where(on, v, wide.type(k)) for v, k in zip(now, MASKED_GATES, strict=True)]
            h = np.where(on, h, before)
        found.append(np.stack([*now, h]).swapaxes(1, 2))
    every = np.stack(found).astype(dtype)
    return every[:, :4], every[:, 4]
