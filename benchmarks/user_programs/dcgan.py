"""A deep convolutional GAN on 28×28 images: two tapes in one compiled step, then samples."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH, NOISE, EPOCHS = 64, 100, 2
tf.keras.utils.set_random_seed(1)


def make_generator():
    return tf.keras.Sequential(
        [
            layers.Input((NOISE,)),
            layers.Dense(7 * 7 * 128, use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((7, 7, 128)),
            layers.Conv2DTranspose(64, 5, 1, "same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(32, 5, 2, "same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(1, 5, 2, "same", use_bias=False, activation="tanh"),
        ]
    )


def make_discriminator():
    parts = [layers.Input((28, 28, 1))]
    for filters in (32, 64):
        parts += [layers.Conv2D(filters, 5, 2, "same"), layers.LeakyReLU(), layers.Dropout(0.3)]
    return tf.keras.Sequential([*parts, layers.Flatten(), layers.Dense(1)])


generator, discriminator = make_generator(), make_discriminator()
entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
optimizers = [tf.keras.optimizers.Adam(1e-4) for _ in range(2)]


@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fakes = generator(noise, training=True)
        real, fake = discriminator(images, training=True), discriminator(fakes, training=True)
        gen_loss = entropy(tf.ones_like(fake), fake)
        disc_loss = entropy(tf.ones_like(real), real) + entropy(tf.zeros_like(fake), fake)
    for model, loss, tape, optimizer in zip(
        [generator, discriminator], [gen_loss, disc_loss], [gen_tape, disc_tape], optimizers
    ):
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return gen_loss, disc_loss


images = np.random.default_rng(0).uniform(-1, 1, (12 * BATCH, 28, 28, 1)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images)).batch(BATCH)
seed = tf.random.normal([16, NOISE])
for _ in range(EPOCHS):
    for batch in dataset:
        gen_loss, disc_loss = train_step(batch)
    samples = generator(seed, training=False)
print(float(gen_loss), float(disc_loss), float(tf.reduce_mean(tf.abs(samples))))
