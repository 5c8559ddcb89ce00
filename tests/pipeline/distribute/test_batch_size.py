"""The batch size of a dataset, found without an iteration."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.pipeline.distribute.batch_size import compute_batch_size

BATCHED = tf.data.Dataset.range(20).batch(6)
OTHER = tf.data.Dataset.range(20).batch(5)


@pytest.mark.parametrize(
    ("dataset", "size"),
    [
        (BATCHED, 6),
        (tf.data.Dataset.range(20).batch(6, drop_remainder=True).map(lambda x: x + 1), 6),
        (tf.data.Dataset.range(20).padded_batch(4), 4),
        (BATCHED.shuffle(3).repeat(2).take(4).skip(1).shard(2, 0).cache().prefetch(1), 6),
        (BATCHED.filter(lambda x: True).with_options(tf.data.Options()), 6),
        (BATCHED.apply(tf.data.experimental.assert_cardinality(4)), 6),
        (tf.data.Dataset.zip((BATCHED, BATCHED.shuffle(2))), 6),
        (BATCHED.concatenate(BATCHED), 6),
        (tf.data.Dataset.zip((BATCHED, OTHER)), -1),
        (BATCHED.concatenate(OTHER), -1),
        (BATCHED.map(lambda x: x[:2]), -1),
        (BATCHED.unbatch(), -1),
        (tf.data.Dataset.from_tensors((np.zeros((3, 2)), np.zeros(3))), 3),
        (tf.data.Dataset.from_tensors((np.zeros((3, 2)), np.zeros(4))), -1),
        (tf.data.Dataset.range(20), -1),
    ],
)
def test_batch_size(dataset, size):
    """Static shapes decide; then transformations that keep the number of rows."""
    found = compute_batch_size(dataset)
    assert (found.numpy(), found.dtype) == (size, tf.int64)
