"""A custom training loop: datasets, metrics, a compiled step, checkpoints, early stopping.

python -m gradtape examples/training_loop.py
"""

import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)


def spirals(count):
    """Points on three spiral arms, and the arm of each."""
    rng = np.random.default_rng(0)
    label = np.arange(count) % 3
    radius = rng.uniform(0.1, 1.0, count)
    angle = 4.0 * radius + 2 * np.pi * label / 3 + rng.normal(0, 0.1, count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype("float32"), label.astype("int64")


points, labels = spirals(900)
train_data = tf.data.Dataset.from_tensor_slices((points[:720], labels[:720]))
train_data = train_data.shuffle(720, seed=1).batch(48).prefetch(tf.data.AUTOTUNE)
test_data = tf.data.Dataset.from_tensor_slices((points[720:], labels[720:])).batch(90)


def make_model():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(3),
        ]
    )


model = make_model()
optimizer = tf.keras.optimizers.Adam(learning_rate=0.03)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss = tf.keras.metrics.Mean(name="train_loss")
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss.update_state(loss)
    train_accuracy.update_state(y, logits)


@tf.function
def test_step(x, y):
    test_accuracy.update_state(y, model(x, training=False))


model(points[:1])  # builds the variables
optimizer.build(model.trainable_variables)
best = tf.Variable(0.0)

with tempfile.TemporaryDirectory() as folder:
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, best=best)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    for epoch in range(8):
        for metric in (train_loss, train_accuracy, test_accuracy):
            metric.reset_state()
        for x, y in train_data:
            train_step(x, y)
        for x, y in test_data:
            test_step(x, y)
        print(
            f"epoch {epoch + 1}: loss {train_loss.result():.4f}, "
            f"accuracy {train_accuracy.result():.3f}, test {test_accuracy.result():.3f}"
        )
        if test_accuracy.result() > best:
            best.assign(test_accuracy.result())
            manager.save(checkpoint_number=epoch + 1)
    epochs = [path.rpartition("-")[2] for path in manager.checkpoints]
    print("kept the checkpoints of epochs", ", ".join(epochs))

    restored = make_model()
    restored(points[:1])
    score = tf.Variable(0.0)
    after = tf.train.Checkpoint(model=restored, best=score)
    after.restore(manager.latest_checkpoint).expect_partial()

test_accuracy.reset_state()
for x, y in test_data:
    test_accuracy.update_state(y, restored(x))
print(f"restored: best {score.numpy():.3f}, measured again {test_accuracy.result():.3f}")
