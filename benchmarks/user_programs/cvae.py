"""A convolutional variational autoencoder with a compiled step and a test loss per epoch."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH, LATENT, EPOCHS = 32, 2, 3
tf.keras.utils.set_random_seed(4)


class CVAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [
                layers.Input((28, 28, 1)),
                layers.Conv2D(32, 3, 2, activation="relu"),
                layers.Conv2D(64, 3, 2, activation="relu"),
                layers.Flatten(),
                layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                layers.Input((LATENT,)),
                layers.Dense(7 * 7 * 32, activation="relu"),
                layers.Reshape((7, 7, 32)),
                layers.Conv2DTranspose(64, 3, 2, "same", activation="relu"),
                layers.Conv2DTranspose(32, 3, 2, "same", activation="relu"),
                layers.Conv2DTranspose(1, 3, 1, "same"),
            ]
        )

    @tf.function
    def sample(self, eps):
        return tf.sigmoid(self.decoder(eps))


def log_normal(sample, mean, log_variance):
    constant = tf.math.log(2.0 * np.pi)
    squared = (sample - mean) ** 2.0 * tf.exp(-log_variance)
    return tf.reduce_sum(-0.5 * (squared + log_variance + constant), axis=1)


def compute_loss(model, x):
    mean, log_variance = tf.split(model.encoder(x), 2, axis=1)
    z = tf.random.normal(shape=tf.shape(mean)) * tf.exp(log_variance * 0.5) + mean
    logits = model.decoder(z)
    cross = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x)
    likelihood = -tf.reduce_sum(cross, axis=[1, 2, 3])
    return -tf.reduce_mean(likelihood + log_normal(z, 0.0, 0.0) - log_normal(z, mean, log_variance))


@tf.function
def train_step(model, x, optimizer):
    with tf.GradientTape() as tape:
        loss = compute_loss(model, x)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


model, optimizer = CVAE(), tf.keras.optimizers.Adam(1e-4)
rng = np.random.default_rng(0)
images = (rng.uniform(0, 1, (BATCH * 26 + 8, 28, 28, 1)) > 0.7).astype("float32")
training = tf.data.Dataset.from_tensor_slices(images[: BATCH * 20]).shuffle(1000).batch(BATCH)
testing = tf.data.Dataset.from_tensor_slices(images[BATCH * 20 :]).batch(BATCH)
for _ in range(EPOCHS):
    for batch in training:
        train_step(model, batch, optimizer)
    loss = tf.keras.metrics.Mean()
    for batch in testing:
        loss(compute_loss(model, batch))
grid = model.sample(tf.random.normal([64, LATENT]))
print(float(loss.result()), float(tf.reduce_mean(grid)))
