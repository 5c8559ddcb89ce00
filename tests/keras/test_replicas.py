"""Keras under MirroredStrategy: losses recorded with TensorFlow 2.21, for several replicas.

The last batch has two rows, so that some replicas get fewer rows than others, or none.
"""

from importlib.util import find_spec

import numpy as np
import pytest

import gradtape as tf

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
tf.install()
keras = pytest.importorskip("keras")

RECORDED = [  # replicas, model, losses of three epochs, loss of evaluate
    (1, "sgd", [1.16829, 1.11633, 1.10571], 1.10971),
    (1, "adam", [1.16644, 1.1246, 1.11346], 1.11069),
    (1, "batch_norm", [1.36621, 1.22586, 1.15218], 1.09404),
    (1, "synchronized_batch_norm", [1.36621, 1.22586, 1.15218], 1.09404),
    (1, "dropout", [1.0969, 1.17154, 1.15007], 1.10989),
    (1, "schedule", [1.16491, 1.15801, 1.15241], 1.14693),
    (1, "custom", [13.07059, 10.95913, 9.22325], None),
    (2, "sgd", [1.16829, 1.11633, 1.10571], 1.10971),
    (2, "adam", [1.16644, 1.1246, 1.11346], 1.11069),
    (2, "batch_norm", [1.3881, 1.21889, 1.11285], 1.07917),
    (2, "synchronized_batch_norm", [1.36662, 1.23062, 1.16237], 1.10113),
    (2, "dropout", [1.12922, 1.12403, 1.13603], 1.08799),
    (2, "schedule", [1.16491, 1.15801, 1.15241], 1.14693),
    (2, "custom", [6.53529, 5.47957, 4.61162], None),
    (4, "sgd", [1.16829, 1.11107, 1.07046], 1.05563),
    (4, "adam", [1.16644, 1.12171, 1.10169], 1.0915),
    (4, "synchronized_batch_norm", [1.3667, 1.22573, 1.14847], 1.08996),
    (4, "dropout", [1.18083, 1.09049, 1.07427], 1.06324),
    (4, "schedule", [1.16491, 1.14889, 1.13744], 1.1271),
    (4, "custom", [3.26765, 2.73978, 2.30581], None),
    (8, "sgd", [1.16829, 1.11067, 1.06506], 1.04218),
]
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(50, 6)).astype("float32")
Y = GENERATOR.integers(0, 3, 50)


def make_model(name):
    """A small classifier."""
    glorot = keras.initializers.GlorotUniform
    layers = [keras.layers.Dense(8, activation="relu", kernel_initializer=glorot(seed=1))]
    if name.endswith("batch_norm"):
        layers.append(keras.layers.BatchNormalization(synchronized=name.startswith("sync")))
    if name == "dropout":
        layers.append(keras.layers.Dropout(0.3, seed=3))
    layers.append(keras.layers.Dense(3, kernel_initializer=glorot(seed=2)))
    return keras.Sequential(layers)


def make_optimizer(name):
    """The optimizer of a model."""
    if name in ("sgd", "dropout"):
        return keras.optimizers.SGD(0.1, momentum=0.9)
    if name == "schedule":
        decay = keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.9)
        return keras.optimizers.SGD(decay)
    return keras.optimizers.Adam(0.01, clipnorm=1.0)


class CustomStep(keras.Model):
    """A model with a `train_step` of its own."""

    def __init__(self):
        """Create one layer."""
        super().__init__()
        self.dense = keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        """Apply the layer."""
        return self.dense(x)

    def train_step(self, data):
        """One step, with the loss of this replica."""
        x, y = data
        with tf.GradientTape() as tape:
            errors = tf.square(self(x)[:, 0] - tf.cast(y, tf.float32))
            loss = tf.nn.compute_average_loss(errors)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"average": loss}


@pytest.mark.parametrize(("replicas", "name", "losses", "evaluated"), RECORDED)
def test_losses_are_those_of_tensorflow(replicas, name, losses, evaluated):
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
    x, y = (X[:48], Y[:48]) if name == "custom" else (X, Y)
    with strategy.scope():
        keras.utils.set_random_seed(0)
        if name == "custom":
            model = CustomStep()
            model.compile(optimizer=keras.optimizers.SGD(0.01))
        else:
            model = make_model(name)
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(optimizer=make_optimizer(name), loss=loss)
    history = model.fit(x, y, batch_size=16, epochs=3, verbose=0, shuffle=False)
    np.testing.assert_allclose(
        history.history.get("average", history.history.get("loss")), losses, atol=2e-5
    )
    if evaluated is not None:
        found = model.evaluate(x, y, batch_size=16, verbose=0)
        assert found == pytest.approx(evaluated, abs=2e-5)
        assert model.predict(x, batch_size=16, verbose=0).shape == (50, 3)


def test_fit_takes_a_distributed_dataset():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    data = strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    )
    with strategy.scope():
        model = make_model("sgd")
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer="sgd", loss=loss)
    losses = model.fit(data, epochs=2, verbose=0, shuffle=False).history["loss"]
    assert losses[1] < losses[0]
