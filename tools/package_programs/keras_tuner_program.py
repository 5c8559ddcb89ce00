"""Keras Tuner: a random search over a small network."""

import tempfile

import keras
import keras_tuner
import numpy as np

keras.utils.set_random_seed(1)
x = np.linspace(-1, 1, 40).reshape(20, 2).astype("float32")
y = (x.sum(1, keepdims=True) > 0).astype("float32")


def build(hp):
    units = hp.Int("units", 2, 8, step=2)
    model = keras.Sequential(
        [keras.layers.Dense(units, "tanh", kernel_initializer="ones"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.SGD(hp.Float("rate", 1e-3, 1e-1, sampling="log")), "mse")
    return model


with tempfile.TemporaryDirectory() as folder:
    tuner = keras_tuner.RandomSearch(
        build, objective="loss", max_trials=3, seed=5, directory=folder, overwrite=True
    )
    keras.utils.set_random_seed(1)
    tuner.search(x, y, epochs=2, batch_size=20, shuffle=False, verbose=0)
    for trial in tuner.oracle.get_best_trials(3):
        print("units", trial.hyperparameters.values["units"], trial.hyperparameters.values["rate"])
