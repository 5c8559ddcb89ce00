"""Neural style transfer on a small network: the content of one image in the style of another.

    python -m gradtape examples/style_transfer.py

The image is the variable; Gram matrices of features represent its style (Gatys et al., 2015).
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)
SIZE = 24


def content_picture():
    """A disk on a gradient."""
    rows, columns = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    disk = ((rows - 0.5) ** 2 + (columns - 0.5) ** 2 < 0.08).astype("float32")
    return np.stack([disk, rows, columns], axis=-1)[None].astype("float32")


def style_picture():
    """Stripes along a diagonal."""
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    stripes = 0.5 + 0.5 * np.sin(0.9 * (rows + columns))
    return np.stack([stripes, 1 - stripes, stripes**2], axis=-1)[None].astype("float32")


def small_net():
    """Features at three depths of a network with fixed random weights."""
    inputs = tf.keras.Input([SIZE, SIZE, 3])
    x = tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu", name="conv1")(inputs)
    x = tf.keras.layers.AveragePooling2D(2, name="pool1")(x)
    x = tf.keras.layers.Conv2D(12, 3, padding="same", activation="relu", name="conv2")(x)
    x = tf.keras.layers.AveragePooling2D(2, name="pool2")(x)
    x = tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="conv3")(x)
    return tf.keras.Model(inputs, x, name="small_net")


net = small_net()
net.trainable = False
STYLE_LAYERS, CONTENT_LAYERS = ["conv1", "conv2"], ["conv3"]
outputs = [net.get_layer(name).output for name in STYLE_LAYERS + CONTENT_LAYERS]
extractor = tf.keras.Model([net.input], outputs)


def gram_matrix(features):
    result = tf.linalg.einsum("bijc,bijd->bcd", features, features)
    shape = tf.shape(features)
    return result / tf.cast(shape[1] * shape[2], tf.float32)


def style_and_content(picture):
    features = extractor(picture)
    style = [gram_matrix(f) for f in features[: len(STYLE_LAYERS)]]
    content = features[len(STYLE_LAYERS) :]
    return dict(zip(STYLE_LAYERS, style)), dict(zip(CONTENT_LAYERS, content))


style_targets, _ = style_and_content(tf.constant(style_picture()))
_, content_targets = style_and_content(tf.constant(content_picture()))


def style_content_loss(picture):
    style, content = style_and_content(picture)
    style_loss = tf.add_n(
        [tf.reduce_mean((style[name] - style_targets[name]) ** 2) for name in style]
    )
    content_loss = tf.add_n(
        [tf.reduce_mean((content[name] - content_targets[name]) ** 2) for name in content]
    )
    return 10.0 * style_loss / len(STYLE_LAYERS), content_loss / len(CONTENT_LAYERS)


picture = tf.Variable(content_picture())
optimizer = tf.keras.optimizers.Adam(learning_rate=0.02)


@tf.function()
def train_step(picture):
    with tf.GradientTape() as tape:
        style_loss, content_loss = style_content_loss(picture)
        smoothness = tf.reduce_sum(tf.image.total_variation(picture))
        loss = style_loss + content_loss + 1e-4 * smoothness
    gradient = tape.gradient(loss, picture)
    optimizer.apply_gradients([(gradient, picture)])
    picture.assign(tf.clip_by_value(picture, 0.0, 1.0))
    return style_loss, content_loss, smoothness


for step in range(1, 61):
    style_loss, content_loss, smoothness = train_step(picture)
    if step % 20 == 0:
        print(
            f"step {step}: style {style_loss:.5f}, content {content_loss:.5f}, "
            f"variation {smoothness:.2f}"
        )

change = tf.reduce_mean(tf.abs(picture - content_picture()))
print(f"mean change of a pixel {change:.4f}")
print("mean colour", *[f"{c:.4f}" for c in tf.reduce_mean(picture, [0, 1, 2]).numpy()])
