"""The workloads in JAX, op by op: transformed, but not compiled as a whole."""

import jax
import jax.numpy as jnp
import numpy as np


def versions():
    return {"jax": jax.__version__}


def use_threads(n):
    """The environment and the cores this process may use have said it."""


def wait(results):
    jax.block_until_ready(results)


def as_numpy(results):
    return [np.asarray(r) for r in results]


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = jnp.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = jnp.asarray(x)
    return lambda: [run_chain(x, repeats)]


def chain_unwatched(x, repeats):
    x, other = jnp.asarray(x), jnp.ones(())

    def step():
        kept = []
        jax.vjp(lambda w: kept.append(run_chain(x, repeats)) or w * w, other)
        return kept

    return step


def chain(x, repeats):
    x = jnp.asarray(x)
    differentiate = jax.value_and_grad(lambda x: run_chain(x, repeats))
    return lambda: list(differentiate(x))


def chain_held(x, repeats):
    x = jnp.asarray(x)
    return lambda: jax.vjp(lambda x: run_chain(x, repeats), x)


def loss_of(parameters, x, y):
    weights, biases = parameters
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = jax.nn.relu(x @ w + b)
    logits = x @ weights[-1] + biases[-1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


def mlp(x, y, weights, biases, rate):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (weights, biases))
    differentiate = jax.value_and_grad(loss_of)

    def step():
        nonlocal parameters
        loss, gradients = differentiate(parameters, x, y)
        parameters = jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)
        return [loss, *parameters[0], *parameters[1]]

    return step


def mlp_held(x, y, weights, biases, rate):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (weights, biases))
    return lambda: jax.vjp(lambda p: loss_of(p, x, y), parameters)


def elementwise(x):
    x = jnp.asarray(x)
    differentiate = jax.value_and_grad(lambda x: jnp.sum(jnp.tanh(x) * x + x * x))
    return lambda: list(differentiate(x))


def jacobian(x, w):
    x, w = jnp.asarray(x), jnp.asarray(w)
    differentiate = jax.jacrev(lambda w: jnp.tanh(x @ w))
    return lambda: [differentiate(w)]


def batch_jacobian(x, w1, w2):
    x, w1, w2 = jnp.asarray(x), jnp.asarray(w1), jnp.asarray(w2)
    differentiate = jax.vmap(jax.jacrev(lambda row: jnp.tanh(row @ w1) @ w2))
    return lambda: [differentiate(x)]


def second_order(x, w1, w2):
    x, parameters = jnp.asarray(x), (jnp.asarray(w1), jnp.asarray(w2))

    def loss(parameters):
        w1, w2 = parameters
        return jnp.mean(jnp.square(jnp.tanh(x @ w1) @ w2 - 1))

    def norm(parameters):
        d1, d2 = jax.grad(loss)(parameters)
        return jnp.sum(jnp.square(d1)) + jnp.sum(jnp.square(d2))

    differentiate = jax.grad(norm)
    return lambda: list(differentiate(parameters))


LAYOUT = ("NHWC", "HWIO", "NHWC")


def convolved(x, w, groups=1):
    return jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=LAYOUT, feature_group_count=groups
    )


def max_pooled(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cnn_loss(parameters, x, y):
    kernels, dense, biases = parameters
    for w, b in zip(kernels, biases[:-1], strict=True):
        x = max_pooled(jax.nn.relu(convolved(x, w) + b))
    logits = x.reshape(len(x), -1) @ dense + biases[-1]
    return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(y)), y])


def cnn(x, y, kernels, dense, biases, rate):
    x, y = jnp.asarray(x), jnp.asarray(y)
    parameters = jax.tree.map(jnp.asarray, (kernels, dense, biases))
    differentiate = jax.value_and_grad(cnn_loss)

    def step():
        nonlocal parameters
        loss, gradients = differentiate(parameters, x, y)
        parameters = jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)
        return [loss, *jax.tree.leaves(parameters)]

    return step


def convolution(x, w, g):
    x, w, g = jnp.asarray(x), jnp.asarray(w), jnp.asarray(g)

    def step():
        y, pull = jax.vjp(convolved, x, w)
        return [y, *pull(g)]

    return step


def depthwise(x, w, g):
    x, w, g = jnp.asarray(x), jnp.asarray(w), jnp.asarray(g)
    channels = x.shape[-1]

    def apply(x, w):
        return convolved(x, w.reshape(*w.shape[:2], 1, channels), channels)

    def step():
        y, pull = jax.vjp(apply, x, w)
        return [y, *pull(g)]

    return step


def residual(x, kernels, scales, offsets, g):
    g = jnp.asarray(g)
    sources = jax.tree.map(jnp.asarray, (x, kernels, scales, offsets))

    def normalised(x, scale, offset):
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        return (x - mean) * (jax.lax.rsqrt(variance + 1e-3) * scale) + offset

    def block(sources):
        x, kernels, scales, offsets = sources
        y = jax.nn.relu(normalised(convolved(x, kernels[0]), scales[0], offsets[0]))
        return jax.nn.relu(normalised(convolved(y, kernels[1]), scales[1], offsets[1]) + x)

    def step():
        y, pull = jax.vjp(block, sources)
        return [y, *jax.tree.leaves(pull(g))]

    return step


def embedding(table, ids, g, rate):
    table, ids, g = jnp.asarray(table), jnp.asarray(ids), jnp.asarray(g)
    differentiate = jax.value_and_grad(lambda rows: jnp.sum(rows * g))

    def step():
        nonlocal table
        value, slices = differentiate(table[ids])
        table = table.at[ids].add(-rate * slices)
        return [value, table]

    return step


def batch_norm(x, scale, offset, g):
    axes = tuple(range(x.ndim - 1))

    def normalised(x, scale, offset):
        mean, variance = jnp.mean(x, axes), jnp.var(x, axes)
        return (x - mean) * (jax.lax.rsqrt(variance + 1e-3) * scale) + offset

    return pulled_back(normalised, g, x, scale, offset)


def layer_norm(x, scale, offset, g):
    def normalised(x, scale, offset):
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset

    return pulled_back(normalised, g, x, scale, offset)


def softmax(x, g):
    return pulled_back(jax.nn.softmax, g, x)


def gelu(x, g):
    return pulled_back(lambda x: jax.nn.gelu(x, approximate=False), g, x)


def pulled_back(function, g, *sources):
    """A step that computes `function` and its gradients by everything."""
    g, *sources = (jnp.asarray(a) for a in (g, *sources))

    def step():
        y, pull = jax.vjp(function, *sources)
        return [y, *pull(g)]

    return step


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
    x, c, h, w, b, g = map(jnp.asarray, (x, c, h, w, b, g))

    def step():
        y, pull = jax.vjp(lambda x, w, b: lstm_outputs(x, c, h, w, b), x, w, b)
        return [y, *pull(g)]

    return step


def attention(x, weights, heads, g):
    batch, steps, width = x.shape
    x, g, weights = jnp.asarray(x), jnp.asarray(g), [jnp.asarray(w) for w in weights]
    scale = (width // heads) ** -0.5

    def by_head(x):
        return x.reshape(batch, steps, heads, width // heads).swapaxes(1, 2)

    def attend(x, *weights):
        q, k, v = (by_head(x @ w) for w in weights[:3])
        y = jax.nn.softmax((q * scale) @ k.swapaxes(-1, -2)) @ v
        return y.swapaxes(1, 2).reshape(batch, steps, width) @ weights[3]

    def step():
        y, pull = jax.vjp(attend, x, *weights)
        return [y, *pull(g)]

    return step
