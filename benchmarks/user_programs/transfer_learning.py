"""Transfer learning with augmentation: a frozen MobileNetV2 stand-in, then fine tuning."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIZE, BATCH = 64, 16
tf.keras.utils.set_random_seed(8)

rng = np.random.default_rng(0)
images = rng.uniform(0, 255, (11 * BATCH, SIZE, SIZE, 3)).astype("float32")
labels = rng.integers(0, 2, (11 * BATCH, 1))
images += 40 * labels[:, :, None, None]
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(BATCH)
training, validation = dataset.skip(3).prefetch(tf.data.AUTOTUNE), dataset.take(3)

augmentation = tf.keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.2)])
base = tf.keras.applications.MobileNetV2(
    (SIZE, SIZE, 3), alpha=0.35, include_top=False, weights=None
)
base.trainable = False
entry = tf.keras.Input((SIZE, SIZE, 3))
x = tf.keras.applications.mobilenet_v2.preprocess_input(augmentation(entry))
x = layers.GlobalAveragePooling2D()(base(x, training=False))
model = tf.keras.Model(entry, layers.Dense(1, activation="sigmoid")(layers.Dropout(0.2)(x)))


def train(rate, epochs):
    model.compile(
        optimizer=tf.keras.optimizers.Adam(rate),
        loss=tf.keras.losses.BinaryCrossentropy(),
        metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.5)],
    )
    return model.fit(training, epochs=epochs, validation_data=validation, verbose=0).history


first = train(1e-4, 2)
base.trainable = True
for layer in base.layers[:100]:
    layer.trainable = False
second = train(1e-5, 2)
print(first["loss"][-1], second["loss"][-1], model.evaluate(validation, verbose=0)[0])
