"""A generative adversarial network that learns a ring of eight Gaussians.

python -m gradtape examples/gan.py
"""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(3)

NOISE_DIM = 4
BATCH_SIZE = 64
STEPS = 40


def ring(count):
    rng = np.random.default_rng(1)
    angle = 2 * np.pi * rng.integers(0, 8, count) / 8
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (centres + rng.normal(0, 0.05, (count, 2))).astype("float32")


def make_generator_model():
    model = tf.keras.Sequential(name="generator")
    model.add(layers.Dense(32, use_bias=False, input_shape=(NOISE_DIM,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Dense(32, activation="relu"))
    model.add(layers.Dense(2))
    return model


def make_discriminator_model():
    model = tf.keras.Sequential(name="discriminator")
    model.add(layers.Dense(32, input_shape=(2,)))
    model.add(layers.LeakyReLU())
    model.add(layers.Dropout(0.1, seed=5))
    model.add(layers.Dense(1))
    return model


generator = make_generator_model()
discriminator = make_discriminator_model()
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(2e-3, beta_1=0.5)
discriminator_optimizer = tf.keras.optimizers.Adam(2e-3, beta_1=0.5)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


@tf.function
def train_step(points):
    noise = tf.random.normal([BATCH_SIZE, NOISE_DIM], seed=11)
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real_output = discriminator(points, training=True)
        fake_output = discriminator(generated, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)

    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gradients_of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(
        zip(gradients_of_discriminator, discriminator.trainable_variables)
    )
    return gen_loss, disc_loss


dataset = tf.data.Dataset.from_tensor_slices(ring(2048)).shuffle(2048, seed=2)
dataset = dataset.repeat().batch(BATCH_SIZE, drop_remainder=True)

for step, points in enumerate(dataset.take(STEPS), start=1):
    gen_loss, disc_loss = train_step(points)
    if step % 10 == 0:
        print(f"step {step}: generator {gen_loss:.4f}, discriminator {disc_loss:.4f}")

seed = tf.random.stateless_normal([256, NOISE_DIM], seed=[1, 2])
samples = generator(seed, training=False)
radius = tf.norm(samples, axis=1)
print("mean radius of samples", f"{tf.reduce_mean(radius):.3f}")
print("spread of samples", *[f"{s:.3f}" for s in tf.math.reduce_std(samples, 0).numpy()])
