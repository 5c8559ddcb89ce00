"""A character model with an embedding and an LSTM that learns a nursery rhyme, then generates text.

python -m gradtape examples/text_lstm.py
"""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(10)

RHYME = """twinkle twinkle little star
how i wonder what you are
up above the world so high
like a diamond in the sky
"""
text = RHYME * 12
vocabulary = sorted(set(text))
char2idx = {c: i for i, c in enumerate(vocabulary)}
idx2char = np.array(vocabulary)
encoded = np.array([char2idx[c] for c in text], np.int32)

SEQUENCE = 24
dataset = tf.data.Dataset.from_tensor_slices(encoded).batch(SEQUENCE + 1, drop_remainder=True)
dataset = dataset.map(lambda chunk: (chunk[:-1], chunk[1:]))
dataset = dataset.shuffle(100, seed=1).batch(8, drop_remainder=True)


class CharModel(tf.keras.Model):
    """Embedding, LSTM, logits of the next character."""

    def __init__(self, vocab_size, embedding_dim, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.lstm = tf.keras.layers.LSTM(units, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        x, *states = self.lstm(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


model = CharModel(len(vocabulary), 16, 48)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(0.02, clipnorm=1.0)
mean = tf.keras.metrics.Mean()


@tf.function
def train_step(inputs, labels):
    with tf.GradientTape() as tape:
        predictions = model(inputs, training=True)
        loss = loss_fn(labels, predictions)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(1, 13):
    mean.reset_state()
    for inputs, labels in dataset:
        mean.update_state(train_step(inputs, labels))
    if epoch % 3 == 0:
        print(f"epoch {epoch}: loss {mean.result():.4f}, perplexity {np.exp(mean.result()):.2f}")

states = None
character = tf.constant([[char2idx["t"]]])
characters = ["t"]
for _ in range(40):
    logits, states = model(character, states=states, return_state=True)
    best = tf.argmax(logits[:, -1, :], axis=-1, output_type=tf.int32)
    characters.append(str(idx2char[best[0]]))
    character = best[:, tf.newaxis]
print(repr("".join(characters)))
