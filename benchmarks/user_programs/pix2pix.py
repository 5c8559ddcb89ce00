"""Image to image: a U-Net with skip connections against a discriminator of patches, batch 1."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIZE, STEPS = 64, 40
tf.keras.utils.set_random_seed(2)


def shrink(filters, normalise=True):
    block = tf.keras.Sequential([layers.Conv2D(filters, 4, 2, "same", use_bias=False)])
    if normalise:
        block.add(layers.BatchNormalization())
    block.add(layers.LeakyReLU())
    return block


def grow(filters, drop=False):
    block = tf.keras.Sequential([layers.Conv2DTranspose(filters, 4, 2, "same", use_bias=False)])
    block.add(layers.BatchNormalization())
    if drop:
        block.add(layers.Dropout(0.5))
    block.add(layers.ReLU())
    return block


def make_generator():
    entry = x = layers.Input((SIZE, SIZE, 3))
    skips = []
    for i, filters in enumerate((32, 64, 128, 128, 128)):
        x = shrink(filters, normalise=i > 0)(x)
        skips.append(x)
    for i, (filters, skip) in enumerate(zip((128, 128, 64, 32), reversed(skips[:-1]))):
        x = layers.Concatenate()([grow(filters, drop=i < 2)(x), skip])
    x = layers.Conv2DTranspose(3, 4, 2, "same", activation="tanh")(x)
    return tf.keras.Model(entry, x)


def make_discriminator():
    entry, target = layers.Input((SIZE, SIZE, 3)), layers.Input((SIZE, SIZE, 3))
    x = layers.Concatenate()([entry, target])
    for i, filters in enumerate((32, 64, 128)):
        x = shrink(filters, normalise=i > 0)(x)
    x = layers.ZeroPadding2D()(x)
    x = layers.LeakyReLU()(layers.BatchNormalization()(layers.Conv2D(128, 4, use_bias=False)(x)))
    return tf.keras.Model([entry, target], layers.Conv2D(1, 4)(layers.ZeroPadding2D()(x)))


generator, discriminator = make_generator(), make_discriminator()
entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
gen_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
disc_optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)


@tf.function
def augment(image, target):
    both = tf.image.resize(tf.stack([image, target]), [SIZE + 6, SIZE + 6], method="nearest")
    both = tf.image.random_crop(both, [2, SIZE, SIZE, 3])
    if tf.random.uniform(()) > 0.5:
        both = tf.image.flip_left_right(both)
    return both[0], both[1]


@tf.function
def train_step(image, target):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        output = generator(image, training=True)
        real = discriminator([image, target], training=True)
        fake = discriminator([image, output], training=True)
        distance = tf.reduce_mean(tf.abs(target - output))
        gen_loss = entropy(tf.ones_like(fake), fake) + 100 * distance
        disc_loss = entropy(tf.ones_like(real), real) + entropy(tf.zeros_like(fake), fake)
    gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gen_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    disc_optimizer.apply_gradients(zip(gradients, discriminator.trainable_variables))
    return gen_loss, disc_loss


rng = np.random.default_rng(0)
pairs = rng.uniform(-1, 1, (2, 10, SIZE, SIZE, 3)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((pairs[0], pairs[1]))
dataset = dataset.map(augment).shuffle(10).batch(1).repeat()
losses = []
for image, target in dataset.take(STEPS):
    gen_loss, disc_loss = train_step(image, target)
    losses.append([float(gen_loss), float(disc_loss)])
print(*np.mean(losses, axis=0))
