"""Layers and networks in JAX."""

from functools import partial

import jax
import jax.numpy as jnp

from workloads import Work
from workloads.in_jax.basics import descend

LAYOUT = ("NHWC", "HWIO", "NHWC")


def convolve(x, w, groups=1):
    return jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=LAYOUT, feature_group_count=groups
    )


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cnn_loss(parameters, x, y):
    kernels, dense, biases = parameters
    for w, b in zip(kernels, biases[:-1], strict=True):
        x = max_pool(jax.nn.relu(convolve(x, w) + b))
    logits = x.reshape(len(x), -1) @ dense + biases[-1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


def cnn(x, y, kernels, dense, biases, rate):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (kernels, dense, biases))

    def step(parameters, x, y):
        loss, gradients = jax.value_and_grad(cnn_loss)(parameters, x, y)
        return descend(parameters, gradients, rate), [loss]

    return Work(step, [x, y], parameters)


def convolution(x, w, g):
    return make_pullback_step(convolve, g, x, w)


def depthwise(x, w, g):
    channels = x.shape[-1]

    def apply(x, w):
        return convolve(x, w.reshape(*w.shape[:2], 1, channels), channels)

    return make_pullback_step(apply, g, x, w)


def residual(x, kernels, scales, offsets, g):
    def normalise(x, scale, offset):
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        return (x - mean) * (jax.lax.rsqrt(variance + 1e-3) * scale) + offset

    def block(x, k0, k1, s0, s1, o0, o1):
        y = jax.nn.relu(normalise(convolve(x, k0), s0, o0))
        return jax.nn.relu(normalise(convolve(y, k1), s1, o1) + x)

    return make_pullback_step(block, g, x, *kernels, *scales, *offsets)


def embedding(table, ids, g, rate):
    table, ids, g = jnp.asarray(table), jnp.asarray(ids), jnp.asarray(g)

    def step(table, ids, g):
        value, slices = jax.value_and_grad(lambda rows: jnp.sum(rows * g))(table[ids])
        return table.at[ids].add(-rate * slices), [value]

    return Work(step, [ids, g], table)


def batch_norm(x, scale, offset, g):
    axes = tuple(range(x.ndim - 1))

    def normalise(x, scale, offset):
        mean, variance = jnp.mean(x, axes), jnp.var(x, axes)
        return (x - mean) * (jax.lax.rsqrt(variance + 1e-3) * scale) + offset

    return make_pullback_step(normalise, g, x, scale, offset)


def layer_norm(x, scale, offset, g):
    def normalise(x, scale, offset):
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset

    return make_pullback_step(normalise, g, x, scale, offset)


def softmax(x, g):
    return make_pullback_step(jax.nn.softmax, g, x)


def gelu(x, g):
    return make_pullback_step(lambda x: jax.nn.gelu(x, approximate=False), g, x)


def make_pullback_step(function, g, *sources):
    """Make a step that computes `function` and the gradients of all its inputs."""
    g, *sources = (jnp.asarray(a) for a in (g, *sources))

    def step(g, *sources):
        y, pull = jax.vjp(function, *sources)
        return [y, *pull(g)]

    return Work(step, [g, *sources])


def lstm_outputs(x, c, h, w, b):
    inputs, recurrent = w[: x.shape[-1]], w[x.shape[-1] :]
    outs = []
    for row in x:
        i, f, candidate, o = jnp.split(row @ inputs + h @ recurrent + b, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(candidate)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        outs.append(h)
    return jnp.stack(outs)


def lstm_loop(x, c, h, w, b, g):
    return make_pullback_step(lambda x, w, b: lstm_outputs(x, c, h, w, b), g, x, w, b)


def lstm_step(recurrent, carry, entering):
    """One step of `lstm`, as the body of a scan."""
    c, h = carry
    i, f, candidate, o = jnp.split(entering + h @ recurrent, 4, axis=1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(candidate)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (c, h), h


def lstm(x, c, h, w, b, g):
    n = x.shape[-1]

    def outputs(x, w, b):
        return jax.lax.scan(partial(lstm_step, w[n:]), (c, h), x @ w[:n] + b)[1]

    return make_pullback_step(outputs, g, x, w, b)


def attention(x, weights, heads, g):
    batch, steps, width = x.shape
    scale = (width // heads) ** -0.5

    def split_heads(x):
        return x.reshape(batch, steps, heads, width // heads).swapaxes(1, 2)

    def attend(x, *weights):
        q, k, v = (split_heads(x @ w) for w in weights[:3])
        y = jax.nn.softmax((q * scale) @ k.swapaxes(-1, -2)) @ v
        return y.swapaxes(1, 2).reshape(batch, steps, width) @ weights[3]

    return make_pullback_step(attend, g, x, *weights)


def attention_fused(x, weights, heads, g):
    batch, steps, width = x.shape

    def attend(x, *weights):
        apart = [(x @ w).reshape(batch, steps, heads, -1) for w in weights[:3]]
        y = jax.nn.dot_product_attention(*apart)
        return y.reshape(batch, steps, width) @ weights[3]

    return make_pullback_step(attend, g, x, *weights)


def attention_einsum(x, weights, heads, g):
    width = x.shape[-1]
    scale = (width // heads) ** -0.5

    def attend(x, *weights):
        apart = [w.reshape(width, heads, -1) for w in weights[:3]]
        q, k, v = (jnp.einsum("abc,cde->abde", x, w) for w in apart)
        p = jax.nn.softmax(jnp.einsum("aecd,abcd->acbe", k, q * scale))
        y = jnp.einsum("acbe,aecd->abcd", p, v)
        return jnp.einsum("abcd,cde->abe", y, weights[3].reshape(heads, -1, width))

    return make_pullback_step(attend, g, x, *weights)
