"""tf.train.Checkpoint of Keras's models and optimizers."""

from importlib.util import find_spec

import numpy as np
import pytest

import gradtape as tf

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
tf.install()
keras = pytest.importorskip("keras")

X = np.arange(12.0).reshape(4, 3).astype("float32") / 12
Y = np.arange(8.0).reshape(4, 2).astype("float32") / 8


class Net(keras.Model):
    """A model whose layers are built on the first call."""

    def __init__(self):
        """Create two layers and a variable."""
        super().__init__()
        self.hidden = keras.layers.Dense(4, activation="tanh")
        self.out = keras.layers.Dense(2)
        self.extra = tf.Variable(1.0)

    def call(self, x):
        """Apply both layers, and scale."""
        return self.out(self.hidden(x)) * self.extra


def sequential():
    return keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(4),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(2),
        ]
    )


def train_model(build):
    model = build()
    model.compile(keras.optimizers.Adam(0.05), "mse", run_eagerly=True)
    model.fit(X, Y, epochs=2, verbose=0)
    return model


def state(model):
    return [v.numpy() for v in (*model.variables, *model.optimizer.variables)]


BUILDS = {
    "Net built before": (Net, False),
    "Net built after": (Net, True),
    "Sequential built before": (sequential, False),
    "Sequential built after": (sequential, True),
}


@pytest.mark.parametrize("case", BUILDS)
def test_models_and_optimizers_are_restored(tmp_path, case):
    build, late = BUILDS[case]
    model = train_model(build)
    saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    path = saved.save(str(tmp_path / "c"))
    other = build()
    other.compile(keras.optimizers.Adam(0.05), "mse", run_eagerly=True)
    checkpoint = tf.train.Checkpoint(model=other, optimizer=other.optimizer)
    status = checkpoint.restore(path) if late else None
    other(X[:1])
    other.optimizer.build(other.trainable_variables)
    status = status or checkpoint.restore(path)
    status.assert_consumed()
    for ours, theirs in zip(state(other), state(model), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    model.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    other.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    np.testing.assert_allclose(other(X).numpy(), model(X).numpy(), rtol=1e-6)


def test_checkpoint_keys_are_tensorflows(tmp_path):
    path = tf.train.Checkpoint(model=train_model(sequential)).write(str(tmp_path / "c"))
    keys = {
        name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")
        for name, _ in tf.train.list_variables(path)
    }
    assert "model/optimizer/_trainable_variables/0" in keys, "the shortest path to a kernel"
    assert "model/_functional/_operations/2/moving_mean" in keys
    assert "model/optimizer/_iterations" in keys
