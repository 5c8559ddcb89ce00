"""A variational autoencoder of small images, as a model with a custom `train_step`.

python -m gradtape examples/vae.py
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(4)
LATENT = 2


def blobs(count):
    """Images of 12 × 12 pixels with one bright spot each."""
    rng = np.random.default_rng(2)
    centre = rng.uniform(3, 9, (count, 2, 1, 1))
    rows, columns = np.mgrid[0:12, 0:12]
    square = (rows - centre[:, 0]) ** 2 + (columns - centre[:, 1]) ** 2
    return np.exp(-square / 6)[..., None].astype("float32")


class Sampling(layers.Layer):
    """Samples from the normal distribution that the encoder predicts."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        epsilon = keras.random.normal(tf.shape(z_mean), seed=self.seed_generator)
        return z_mean + tf.exp(0.5 * z_log_var) * epsilon


class Encoder(keras.Model):
    """Maps an image to mean and log-variance of its code, and to a sample of the code."""

    def __init__(self):
        super().__init__()
        self.conv = layers.Conv2D(8, 3, activation="relu", strides=2, padding="same")
        self.flatten = layers.Flatten()
        self.dense = layers.Dense(16, activation="relu")
        self.mean = layers.Dense(LATENT, name="z_mean")
        self.log_var = layers.Dense(LATENT, name="z_log_var")
        self.sampling = Sampling()

    def call(self, x):
        x = self.dense(self.flatten(self.conv(x)))
        z_mean, z_log_var = self.mean(x), self.log_var(x)
        return z_mean, z_log_var, self.sampling((z_mean, z_log_var))


class Decoder(keras.Model):
    """Maps a code to an image."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(6 * 6 * 8, activation="relu")
        self.reshape = layers.Reshape((6, 6, 8))
        self.up = layers.Conv2DTranspose(8, 3, activation="relu", strides=2, padding="same")
        self.out = layers.Conv2DTranspose(1, 3, activation="sigmoid", padding="same")

    def call(self, z):
        return self.out(self.up(self.reshape(self.dense(z))))


class VAE(keras.Model):
    """Encoder and decoder, trained on the evidence lower bound."""

    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.total_loss_tracker = keras.metrics.Mean(name="loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [
            self.total_loss_tracker,
            self.reconstruction_loss_tracker,
            self.kl_loss_tracker,
        ]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            z_mean, z_log_var, z = self.encoder(data)
            reconstruction = self.decoder(z)
            reconstruction_loss = tf.reduce_mean(
                tf.reduce_sum(keras.losses.binary_crossentropy(data, reconstruction), axis=(1, 2))
            )
            kl_loss = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
            total_loss = reconstruction_loss + kl_loss
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {m.name: m.result() for m in self.metrics}


pictures = blobs(384)
vae = VAE(Encoder(), Decoder())
vae.compile(optimizer=keras.optimizers.Adam(learning_rate=0.005))
dataset = tf.data.Dataset.from_tensor_slices(pictures).shuffle(384, seed=1).batch(32)
history = vae.fit(dataset, epochs=6, verbose=0)
for epoch in range(6):
    row = ", ".join(f"{name} {values[epoch]:.3f}" for name, values in history.history.items())
    print(f"epoch {epoch + 1}: {row}")

z_mean, _, _ = vae.encoder(pictures[:4])
decoded = vae.decoder(z_mean)
print("codes", *[f"{c:.2f}" for c in z_mean.numpy().ravel()])
print("mean brightness", f"{tf.reduce_mean(decoded):.4f}", "of", f"{pictures[:4].mean():.4f}")
print("pixels are probabilities:", bool(tf.reduce_all((decoded >= 0) & (decoded <= 1))))
