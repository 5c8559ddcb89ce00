"""tf.sparse.bincount of dense, sparse and ragged integers, as in TensorFlow 2.21."""

import pytest

import gradtape as tf

RAGGED = tf.ragged.constant([[1, 2], [3]])
WEIGHTS = tf.ragged.constant([[1.0, 2.0], [4.0]])


def parts(counts):
    return [part.numpy().tolist() for part in (counts.indices, counts.values, counts.dense_shape)]


def test_ragged_rows():
    assert parts(tf.sparse.bincount(RAGGED)) == [[[1], [2], [3]], [1, 1, 1], [4]]
    by_row = tf.sparse.bincount(RAGGED, WEIGHTS, axis=-1, minlength=5)
    assert parts(by_row) == [[[0, 1], [0, 2], [1, 3]], [1, 2, 4], [2, 5]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"values": [1, -2]}, tf.errors.InvalidArgumentError),
        ({"values": [[1, 2]], "axis": 3}, ValueError),
        ({"values": [[1, 2]], "weights": [[1.0]]}, tf.errors.InvalidArgumentError),
        ({"values": RAGGED, "weights": WEIGHTS[:1]}, tf.errors.InvalidArgumentError),
        ({"values": RAGGED, "weights": [1.0, 2.0, 3.0]}, ValueError),
        ({"values": RAGGED, "weights": WEIGHTS, "binary_output": True}, ValueError),
    ],
)
def test_arguments_that_do_not_fit(arguments, error):
    with pytest.raises(error):
        tf.sparse.bincount(**arguments)


def test_counts_of_int64_values_are_int64():
    for values in (tf.constant([[1, 2]], tf.int64), tf.ragged.constant([[1], [2]], tf.int64)):
        assert tf.sparse.bincount(values, axis=-1).dtype == tf.int64
    assert tf.sparse.bincount([[1, 2]], axis=-1).dtype == tf.int32
