"""A user's Keras program; pyright reads it where Keras is installed."""

from typing import assert_type

import numpy as np

import gradtape as tf

assert_type(tf.keras.layers.Dense(3), tf.keras.layers.Dense)
assert_type(tf.keras.optimizers.Adam(0.1), tf.keras.optimizers.Adam)
assert_type(tf.optimizers.SGD(), tf.optimizers.SGD)


class Classifier(tf.keras.Model):
    """One dense layer."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.dense = tf.keras.layers.Dense(classes)

    def call(self, x: tf.Tensor, training: bool = False) -> tf.Tensor:
        return self.dense(x)


model = Classifier(3)
model.compile(
    optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
model.fit(np.ones((4, 2)), np.zeros(4), epochs=2)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(tf.ones([1, 2])))
assert_type(tape.gradient(loss, [tf.Variable(1.0)]), list[tf.Tensor])
