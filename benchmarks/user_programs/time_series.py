"""Forecasts from windows of a series: a linear, a dense, a convolutional and an LSTM model."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

WIDTH, EPOCHS = 24, 3
tf.keras.utils.set_random_seed(7)

rng = np.random.default_rng(0)
hours = np.arange(2600)
day, year = 2 * np.pi * hours / 24, 2 * np.pi * hours / 8766
series = np.stack([np.sin(day), np.cos(day), np.sin(year), np.cos(year)], 1)
series = np.concatenate([series, rng.normal(size=(len(hours), 4)).cumsum(0) / 50], 1)
series = ((series - series.mean(0)) / series.std(0)).astype("float32")


def make_windows(data, inputs):
    dataset = tf.keras.utils.timeseries_dataset_from_array(
        data, None, sequence_length=inputs + 1, shuffle=True, batch_size=32, seed=1
    )
    return dataset.map(lambda window: (window[:, :inputs], window[:, -1:, 4:5]))


def train(model, inputs):
    stop = tf.keras.callbacks.EarlyStopping("val_loss", patience=2, mode="min")
    model.compile(
        loss=tf.keras.losses.MeanSquaredError(),
        optimizer=tf.keras.optimizers.Adam(),
        metrics=[tf.keras.metrics.MeanAbsoluteError()],
    )
    training, validation = make_windows(series[:2000], inputs), make_windows(series[2000:], inputs)
    model.fit(training, epochs=EPOCHS, validation_data=validation, callbacks=[stop], verbose=0)
    return model.evaluate(validation, verbose=0)[1]


linear = tf.keras.Sequential([layers.Dense(1)])
dense = tf.keras.Sequential(
    [layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(1)]
)
convolutional = tf.keras.Sequential(
    [
        layers.Conv1D(32, WIDTH, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
recurrent = tf.keras.Sequential([layers.LSTM(32), layers.Dense(1), layers.Reshape((1, 1))])
errors = [train(linear, 1), train(dense, 1), train(convolutional, WIDTH), train(recurrent, WIDTH)]
print(*errors)
