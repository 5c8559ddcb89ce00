"""A training loop by hand: an eager tape, a small network, 120 epochs over 120 flowers."""

import numpy as np
import tensorflow as tf

EPOCHS = 120
tf.keras.utils.set_random_seed(9)

rng = np.random.default_rng(0)
centres = rng.normal(size=(3, 4)) * 2
labels = rng.integers(0, 3, 150)
features = (centres[labels] + rng.normal(size=(150, 4))).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(150).batch(32)
training, testing = dataset.take(4), dataset.skip(4)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(10, activation=tf.nn.relu, input_shape=(4,)),
        tf.keras.layers.Dense(10, activation=tf.nn.relu),
        tf.keras.layers.Dense(3),
    ]
)
entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(learning_rate=0.01)


def compute_gradients(model, inputs, targets):
    with tf.GradientTape() as tape:
        loss = entropy(y_true=targets, y_pred=model(inputs, training=True))
    return loss, tape.gradient(loss, model.trainable_variables)


for _ in range(EPOCHS):
    mean_loss = tf.keras.metrics.Mean()
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    for x, y in training:
        loss, gradients = compute_gradients(model, x, y)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        mean_loss.update_state(loss)
        accuracy.update_state(y, model(x, training=True))
test_accuracy = tf.keras.metrics.Accuracy()
for x, y in testing:
    test_accuracy(tf.math.argmax(model(x, training=False), axis=1, output_type=tf.int64), y)
print(float(mean_loss.result()), float(accuracy.result()))
