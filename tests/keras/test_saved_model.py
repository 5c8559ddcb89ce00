"""Keras models as SavedModels: `tf.saved_model.save`, `model.export` and TFSMLayer."""

from importlib.util import find_spec

import numpy as np
import pytest

import gradtape as tf

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
tf.install()
keras = pytest.importorskip("keras")
layers = keras.layers


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def functional(shape, *stack, dtype="float32"):
    inputs = outputs = keras.Input(shape, dtype=dtype)
    for layer in stack:
        outputs = layer(outputs)
    return keras.Model(inputs, outputs)


def dense():
    stack = (layers.Dense(4, "relu"), layers.BatchNormalization(), layers.Dropout(0.5))
    return functional((5,), *stack, layers.Dense(2)), numbers(7, 5)


def convolutional():
    stack = (
        layers.Conv2D(4, 3, strides=2, padding="same"),
        layers.MaxPooling2D(),
        layers.GlobalAveragePooling2D(),
    )
    return functional((16, 16, 3), *stack), numbers(5, 16, 16, 3)


def sequences():
    x = keras.Input((None, 6))
    attended = layers.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)
    return keras.Model(x, layers.LSTM(3)(layers.LayerNormalization()(attended + x))), numbers(
        4, 9, 6
    )


def embedded():
    stack = (layers.Embedding(10, 4, mask_zero=True), layers.GRU(3))
    return functional((None,), *stack, dtype="int32"), np.arange(20).reshape(4, 5) % 7


@pytest.mark.parametrize("make", [dense, convolutional, sequences, embedded])
def test_a_model_serves_batches_of_any_size(make, tmp_path):
    model, x = make()
    model.export(tmp_path / "exported", verbose=False)
    tf.saved_model.save(model, tmp_path / "saved")
    exported = tf.saved_model.load(tmp_path / "exported")
    served = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    assert len(exported.trainable_variables) == len(model.trainable_variables)
    for count in (1, len(x)):
        wanted = model(x[:count])
        given = tf.constant(x[:count], model.inputs[0].dtype)
        np.testing.assert_allclose(exported.serve(given), wanted, rtol=1e-5, atol=1e-6)
        (answer,) = served(given).values()
        np.testing.assert_allclose(answer, wanted, rtol=1e-5, atol=1e-6)


def test_a_model_that_fit_built_is_saved(tmp_path):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.out = layers.Dense(2)

        def call(self, x):
            return self.out(x)

    model = Net()
    model.compile("sgd", "mse")
    model.fit(numbers(10, 3), numbers(10, 2), batch_size=4, verbose=0)
    tf.saved_model.save(model, tmp_path / "saved")
    served = tf.saved_model.load(tmp_path / "saved").signatures["serving_default"]
    x = numbers(9, 3)
    np.testing.assert_allclose(served(tf.constant(x))["output_0"], model(x), rtol=1e-5)


def test_a_loaded_layer_is_trainable(tmp_path):
    model, x = dense()
    model.export(tmp_path / "exported", verbose=False)
    layer = keras.layers.TFSMLayer(tmp_path / "exported")
    np.testing.assert_allclose(layer(x), model(x), rtol=1e-5, atol=1e-6)
    assert len(layer.trainable_weights) == len(model.trainable_weights)


def test_a_text_model_is_exported(tmp_path):
    vectorize = layers.TextVectorization(output_mode="int", output_sequence_length=4)
    vectorize.adapt(["the cat sat", "on the mat", "a dog"])
    model = keras.Sequential(
        [keras.Input((1,), dtype="string"), vectorize, layers.Embedding(20, 2)]
    )
    model.export(tmp_path / "exported", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "exported")
    for rows in ([["the dog sat"]], [["cat"], ["a b c d e f mat"], [""]]):
        text = tf.constant(rows)
        np.testing.assert_allclose(loaded.serve(text), model(text))
