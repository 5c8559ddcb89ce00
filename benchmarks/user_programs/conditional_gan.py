"""A conditional GAN as a Keras model with its own `train_step`, trained by `fit`."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

BATCH, CLASSES, LATENT, SIDE = 64, 10, 128, 28
keras.utils.set_random_seed(3)

discriminator = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1 + CLASSES)),
        layers.Conv2D(32, 3, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(64, 3, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.GlobalMaxPooling2D(),
        layers.Dense(1),
    ]
)
generator = keras.Sequential(
    [
        keras.Input((LATENT + CLASSES,)),
        layers.Dense(7 * 7 * (LATENT + CLASSES)),
        layers.LeakyReLU(0.2),
        layers.Reshape((7, 7, LATENT + CLASSES)),
        layers.Conv2DTranspose(64, 4, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(64, 4, 2, "same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(1, 7, padding="same", activation="sigmoid"),
    ]
)


class ConditionalGan(keras.Model):
    def __init__(self):
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        self.seeds = keras.random.SeedGenerator(7)
        self.gen_mean = keras.metrics.Mean("gen_loss")
        self.disc_mean = keras.metrics.Mean("disc_loss")

    @property
    def metrics(self):
        return [self.gen_mean, self.disc_mean]

    def compile(self, disc_optimizer, gen_optimizer, loss):
        super().compile()
        self.disc_optimizer, self.gen_optimizer, self.entropy = disc_optimizer, gen_optimizer, loss

    def train_step(self, data):
        real, labels = data
        count = tf.shape(real)[0]
        planes = tf.repeat(labels[:, None, None, :], SIDE, axis=1)
        planes = tf.repeat(planes, SIDE, axis=2)

        noise = keras.random.normal((count, LATENT), seed=self.seeds)
        fakes = self.generator(tf.concat([noise, labels], 1))
        images = tf.concat([tf.concat([fakes, planes], -1), tf.concat([real, planes], -1)], 0)
        truth = tf.concat([tf.ones((count, 1)), tf.zeros((count, 1))], 0)
        with tf.GradientTape() as tape:
            disc_loss = self.entropy(truth, self.discriminator(images))
        weights = self.discriminator.trainable_weights
        self.disc_optimizer.apply_gradients(zip(tape.gradient(disc_loss, weights), weights))

        noise = keras.random.normal((count, LATENT), seed=self.seeds)
        entry = tf.concat([noise, labels], 1)
        with tf.GradientTape() as tape:
            fakes = tf.concat([self.generator(entry), planes], -1)
            gen_loss = self.entropy(tf.zeros((count, 1)), self.discriminator(fakes))
        weights = self.generator.trainable_weights
        self.gen_optimizer.apply_gradients(zip(tape.gradient(gen_loss, weights), weights))
        self.gen_mean.update_state(gen_loss)
        self.disc_mean.update_state(disc_loss)
        return {"gen_loss": self.gen_mean.result(), "disc_loss": self.disc_mean.result()}


rng = np.random.default_rng(0)
x = rng.uniform(0, 1, (BATCH * 8 + 40, SIDE, SIDE, 1)).astype("float32")
y = np.eye(CLASSES, dtype="float32")[rng.integers(0, CLASSES, len(x))]
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024).batch(BATCH)
gan = ConditionalGan()
gan.compile(
    keras.optimizers.Adam(3e-4),
    keras.optimizers.Adam(3e-4),
    keras.losses.BinaryCrossentropy(from_logits=True),
)
history = gan.fit(dataset, epochs=2, verbose=0).history
print(history["gen_loss"][-1], history["disc_loss"][-1])
