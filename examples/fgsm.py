"""Adversarial examples by the fast gradient sign method (Goodfellow et al., 2014).

python -m gradtape examples/fgsm.py
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)


def stripes(count):
    """Noisy images of 8 × 8: horizontal, vertical or diagonal stripes."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, count)
    rows, columns = np.mgrid[0:8, 0:8]
    along = np.stack([rows, columns, rows + columns])[label]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    pictures = 0.5 + 0.35 * np.sin(1.6 * along + phase) + rng.normal(0, 0.1, along.shape)
    return np.clip(pictures, 0, 1)[..., None].astype("float32"), label


x_train, y_train = stripes(512)
x_test, y_test = x_train[:128], y_train[:128]

model = tf.keras.models.Sequential(
    [
        tf.keras.layers.Input((8, 8, 1)),
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(3, activation="softmax"),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.Adam(0.01),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(x_train[128:], y_train[128:], batch_size=32, epochs=8, shuffle=False, verbose=0)
print("training loss", ", ".join(f"{loss:.4f}" for loss in history.history["loss"]))

loss_object = tf.keras.losses.CategoricalCrossentropy()


def create_adversarial_pattern(input_image, input_label):
    """The sign of the gradient of the loss with respect to the image."""
    with tf.GradientTape() as tape:
        tape.watch(input_image)
        prediction = model(input_image)
        loss = loss_object(input_label, prediction)
    gradient = tape.gradient(loss, input_image)
    return tf.sign(gradient)


image = tf.convert_to_tensor(x_test)
perturbations = create_adversarial_pattern(image, tf.one_hot(y_test, 3))
for epsilon in (0.0, 0.05, 0.1, 0.2, 0.3):
    adversarial = tf.clip_by_value(image + epsilon * perturbations, 0, 1)
    loss, accuracy = model.evaluate(adversarial, y_test, verbose=0)
    print(f"epsilon {epsilon}: loss {loss:.4f}, accuracy {accuracy:.3f}")
