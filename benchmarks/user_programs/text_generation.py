"""Characters with a GRU: `fit` with a model subclass, then 200 characters from a compiled step."""

import numpy as np
import tensorflow as tf

SEQUENCE, BATCH, UNITS, CHARACTERS = 50, 32, 128, 200
tf.keras.utils.set_random_seed(6)

rng = np.random.default_rng(0)
words = ["the", "cat", "sat", "on", "a", "mat", "and", "ran", "home", "again,", "quite", "late."]
text = " ".join(rng.choice(words, 6000))
vocabulary = sorted(set(text))
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=vocabulary, mask_token=None)
chars_from_ids = tf.keras.layers.StringLookup(
    vocabulary=ids_from_chars.get_vocabulary(), invert=True, mask_token=None
)
ids = ids_from_chars(tf.strings.unicode_split(text, "UTF-8"))
dataset = tf.data.Dataset.from_tensor_slices(ids).batch(SEQUENCE + 1, drop_remainder=True)
dataset = dataset.map(lambda chunk: (chunk[:-1], chunk[1:]))
dataset = dataset.shuffle(1000).batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


class TextModel(tf.keras.Model):
    def __init__(self, size):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(size, 64)
        self.gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        if states is None:
            states = tf.zeros((tf.shape(x)[0], UNITS))
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        return (x, states) if return_state else x


size = len(ids_from_chars.get_vocabulary())
model = TextModel(size)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(dataset, epochs=3, verbose=0)


class OneStep(tf.keras.Model):
    def __init__(self, model):
        super().__init__()
        self.model = model
        mask = np.zeros(size, "float32")
        mask[ids_from_chars(["[UNK]"]).numpy()[0]] = -np.inf
        self.mask = tf.constant(mask)

    @tf.function
    def generate_one_step(self, inputs, states=None):
        chars = tf.strings.unicode_split(inputs, "UTF-8").to_tensor()
        logits, states = self.model(ids_from_chars(chars), states=states, return_state=True)
        logits = logits[:, -1, :] + self.mask
        chosen = tf.squeeze(tf.random.categorical(logits, num_samples=1), axis=-1)
        return chars_from_ids(chosen), states


one_step = OneStep(model)
states, following = None, tf.constant(["the "])
result = [following]
for _ in range(CHARACTERS):
    following, states = one_step.generate_one_step(following, states=states)
    result.append(following)
assert len(tf.strings.join(result)[0].numpy()) == CHARACTERS + 4
print(history.history["loss"][-1])
