"""Trains a Keras model with dropout by `fit` on shuffled arrays; prints its losses as JSON."""

import json
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

losses = []


class LossRecorder(keras.callbacks.Callback):
    """Records the running loss after every step."""

    def on_train_batch_end(self, batch, logs=None):
        losses.append(float(logs["loss"]))


keras.utils.set_random_seed(11)
rng = np.random.default_rng(0)
x = rng.normal(size=(200, 6)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")
layers = [
    keras.layers.Dense(24, activation="relu"),
    keras.layers.Dropout(0.4),
    keras.layers.GaussianNoise(0.1),
    keras.layers.Dense(2),
]
model = keras.Sequential(layers)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
model.fit(
    x, y, batch_size=16, epochs=4, verbose=0, validation_split=0.1, callbacks=[LossRecorder()]
)
noisy = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64)
noisy = noisy.map(lambda a, b: (a + tf.random.normal([6], stddev=0.1), b)).batch(16)
model.fit(noisy, epochs=2, verbose=0, callbacks=[LossRecorder()])
json.dump({"losses": losses, "weights": np.ravel(model.layers[0].kernel).tolist()}, sys.stdout)
