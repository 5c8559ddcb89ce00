"""Functions of JAX in functions of ours: what `jax.experimental.jax2tf` is under the drop-in."""

import sys

import numpy as np
import pytest

import gradtape as tf

jnp = pytest.importorskip("jax.numpy")
jax2tf = pytest.importorskip("gradtape.interop.jax2tf")

WEIGHT = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2) / 10)


def layer(params, x):
    return {"y": jnp.tanh(x @ params["w"]), "count": x.shape[0] * jnp.ones(())}


def loss_and_gradient(apply, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(apply({"w": WEIGHT}, x)["y"] ** 2)
    return loss, tape.gradient(loss, WEIGHT)


def test_structures_and_gradients():
    apply = jax2tf.convert(layer)
    x = tf.ones((4, 3))
    found = apply({"w": WEIGHT}, x)
    np.testing.assert_allclose(found["y"], np.tanh(x.numpy() @ WEIGHT.numpy()), rtol=1e-6)
    _, gradient = loss_and_gradient(apply, x)
    y = np.tanh(x.numpy() @ WEIGHT.numpy())
    np.testing.assert_allclose(gradient, x.numpy().T @ (2 * y * (1 - y**2)), rtol=1e-5)


def test_a_function_of_unknown_sizes():
    apply = jax2tf.convert(layer, polymorphic_shapes=(None, "(batch, 3)"))
    compiled = tf.function(
        lambda x: loss_and_gradient(apply, x), input_signature=[tf.TensorSpec([None, 3])]
    )
    for count in (2, 5):
        x = tf.reshape(tf.range(3.0 * count) / 10, [count, 3])
        for ours, eager in zip(compiled(x), loss_and_gradient(apply, x), strict=True):
            np.testing.assert_allclose(ours, eager, rtol=1e-5)
    only = tf.function(lambda x: apply({"w": WEIGHT}, x)["y"])
    shape = only.get_concrete_function(tf.TensorSpec([None, 3])).output_shapes
    assert shape.as_list() == [None, 2]


def test_without_gradient():
    apply = jax2tf.convert(layer, with_gradient=False)
    assert loss_and_gradient(apply, tf.ones((2, 3)))[1] is None


def test_only_functions_are_converted():
    with pytest.raises(TypeError, match="must be callable"):
        jax2tf.convert(3)


def test_the_drop_in_has_it():
    import jax.experimental

    known = sys.modules.pop("jax.experimental.jax2tf", None)
    with tf.install():
        from jax.experimental import jax2tf as module

        assert module is jax2tf
    assert known is None
    assert "jax.experimental.jax2tf" not in sys.modules
    vars(jax.experimental).pop("jax2tf", None)
