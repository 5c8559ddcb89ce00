"""Saved functions whose sizes are computed: loaded ones give the same results for all sizes."""

import numpy as np
import pytest

import gradtape as tf


def masked_loss(x, lengths):
    x = tf.transpose(x, [1, 0, 2])
    losses = tf.TensorArray(tf.float32, size=tf.shape(x)[0])

    def step(i, h, losses):
        h = tf.tanh(x[i] + h)
        return i + 1, h, losses.write(i, tf.reduce_sum(h, 1))

    start = (0, tf.zeros([tf.shape(x)[1], 3]), losses)
    _, h, losses = tf.while_loop(lambda i, *_: i < tf.shape(x)[0], step, start)
    each = tf.transpose(losses.stack())
    mask = tf.sequence_mask(lengths, tf.shape(each)[1], tf.float32)
    return tf.reduce_sum(each * mask) / tf.reduce_sum(mask), h


def best(x, k):
    values, places = tf.math.top_k(x, k)
    return values, places, tf.one_hot(places[:, 0], k), x[:, :k], tf.range(k)


def join_words(texts):
    words = tf.strings.split(texts)
    return tf.strings.reduce_join(words, 1, separator="-"), words.row_lengths()


def select(x, mask):
    rows = tf.boolean_mask(x, mask)
    return tf.matmul(rows, rows, transpose_b=True), tf.where(mask)


PROGRAMS = {
    masked_loss: ([[None, None, 3], [None]], ["float32", "int32"]),
    best: ([[None, None], []], ["float32", "int32"]),
    join_words: ([[None]], ["string"]),
    select: ([[None, 3], [None]], ["float32", "bool"]),
}


def arguments(program, n):
    values = tf.reshape(tf.sin(tf.range(float(n * (n + 1) * 3))), [n, n + 1, 3])
    return {
        masked_loss: lambda: (values, tf.range(n) + 1),
        best: lambda: (values[0], tf.constant(min(n, 3))),
        join_words: lambda: (tf.constant(["a b", "c", "d e f"][:n] * 2),),
        select: lambda: (values[0], tf.range(n + 1) % 2 == 0),
    }[program]()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_loaded_program_equals_the_function(program, tmp_path):
    shapes, kinds = PROGRAMS[program]
    signature = [tf.TensorSpec(s, k) for s, k in zip(shapes, kinds, strict=True)]
    module = tf.Module()
    module.f = tf.function(program, input_signature=signature)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for n in (2, 3, 1, 5):
        given = arguments(program, n)
        for one, other in zip(loaded.f(*given), program(*given), strict=True):
            assert one.shape == other.shape
            if one.dtype.is_floating:
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
            else:
                assert one.numpy().tolist() == other.numpy().tolist()
