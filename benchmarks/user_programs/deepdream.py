"""Deep dream: gradient ascent on an image in octaves, with a loop on tensors inside the step."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(5)


def make_network():
    entry = x = layers.Input((None, None, 3))
    outputs = []
    for filters in (16, 32, 64):
        x = layers.Conv2D(filters, 3, 2, "same", activation="relu")(x)
        branches = [
            layers.Conv2D(filters // 2, 1, activation="relu")(x),
            layers.Conv2D(filters // 2, 3, padding="same", activation="relu")(x),
            layers.Conv2D(filters // 2, 5, padding="same", activation="relu")(x),
            layers.Conv2D(filters // 2, 1)(layers.AveragePooling2D(3, 1, "same")(x)),
        ]
        x = layers.BatchNormalization()(layers.Concatenate()(branches))
        outputs.append(x)
    return tf.keras.Model(entry, outputs[1:])


model = make_network()


class DeepDream(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, 3], tf.float32),
            tf.TensorSpec([], tf.int32),
            tf.TensorSpec([], tf.float32),
        ]
    )
    def __call__(self, image, steps, step_size):
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(image)
                activations = self.model(tf.expand_dims(image, 0))
                loss = tf.add_n([tf.math.reduce_mean(a) for a in activations])
            gradients = tape.gradient(loss, image)
            gradients /= tf.math.reduce_std(gradients) + 1e-8
            image = tf.clip_by_value(image + gradients * step_size, -1, 1)
        return loss, image


dream = DeepDream(model)
base = image = tf.constant(np.random.default_rng(0).uniform(-1, 1, (96, 96, 3)), tf.float32)
for octave in range(-2, 3):
    shape = tf.cast(tf.cast(tf.shape(base)[:-1], tf.float32) * 1.3**octave, tf.int32)
    image = tf.image.resize(image, shape)
    done = 0
    while done < 30:
        loss, image = dream(image, tf.constant(10), tf.constant(0.01))
        done += 10
print(float(loss), float(tf.reduce_mean(tf.abs(image))))
