"""Runs a small training loop on the module named on the command line; prints results as JSON.

Everything random comes from one seed: initial weights, the order of the examples, dropout, noise.
"""

import importlib
import json
import sys

import numpy as np

tf = importlib.import_module(sys.argv[1])


def train(steps):
    """Train a network with dropout; return losses, the labels of each batch, and the bias."""
    tf.random.set_seed(42)
    generator = tf.random.Generator.from_seed(7)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(96, 8)).astype(np.float32)
    y = np.digitize(x @ rng.normal(size=8), [-1.0, 1.0]).astype(np.int32)
    w1 = tf.Variable(tf.random.truncated_normal([8, 16], stddev=0.3))
    w2 = tf.Variable(tf.random.normal([16, 3], stddev=0.3, seed=3))
    b = tf.Variable(tf.random.uniform([3], -0.1, 0.1))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(50).repeat().batch(16).prefetch(2)
    losses, labels = [], []
    for inputs, targets in dataset.take(steps):
        with tf.GradientTape() as tape:
            noisy = inputs + generator.normal(tf.shape(inputs), stddev=0.05)
            hidden = tf.nn.dropout(tf.nn.relu(noisy @ w1), 0.3)
            logits = hidden @ w2 + b
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
            loss = tf.reduce_mean(each)
        variables = [w1, w2, b]
        for variable, slope in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.2 * slope)
        losses.append(float(loss))
        labels.append(targets.numpy().tolist())
    return {"losses": losses, "labels": labels, "bias": b.numpy().tolist()}


def draws():
    """Random numbers of every distribution."""
    tf.random.set_seed(5)
    r, seed = tf.random, [3, -4]
    found = {
        "categorical": r.categorical([[0.0, 1.0, 2.0], [3.0, 1.0, 0.0]], 9),
        "shuffle": r.shuffle(tf.range(20)),
        "gamma": r.gamma([4], [0.4, 1.0, 9.0], seed=2),
        "poisson": r.poisson([4], [0.4, 9.0, 90.0], seed=2),
        "binomial": r.stateless_binomial([5, 3], seed, [4.0, 40.0, 400.0], [0.9, 0.4, 0.5]),
        "integers": r.stateless_uniform([7], seed, 0, 1000, dtype=tf.int64),
        "normal": r.stateless_normal([1000], seed),
        "truncated": r.stateless_truncated_normal([1000], seed),
        "double": r.stateless_normal([100], seed, dtype=tf.float64),
        "split": r.split(seed, 3),
        "permuted": r.experimental.stateless_shuffle(tf.range(9), seed),
        "index": r.experimental.index_shuffle(tf.range(9), seed, 100),
        "keys": r.Generator.from_seed([1, 2]).make_seeds(3),
        "sampled": tf.stack(
            list(
                tf.data.Dataset.sample_from_datasets(
                    [tf.data.Dataset.range(9), tf.data.Dataset.range(20, 29)], [0.3, 0.7]
                )
            )
        ),
    }
    return {name: tensor.numpy().tolist() for name, tensor in found.items()}


json.dump({"training": train(50), "draws": draws()}, sys.stdout)
