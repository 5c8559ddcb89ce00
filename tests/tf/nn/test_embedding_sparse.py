"""Embedding lookups with several rows per example."""

from types import SimpleNamespace

import numpy as np
import pytest

import gradtape as tf

TABLE = np.random.default_rng(6).normal(size=(5, 2))
PLACES = [[0, 0], [0, 1], [1, 0], [3, 2]]


def sparse(values):
    """Make an object with the attributes of a SparseTensor that the functions read."""
    return SimpleNamespace(indices=np.array(PLACES), values=values, dense_shape=[5, 3])


IDS, WEIGHTS = sparse(np.array([1, 3, 3, 0])), sparse(np.array([0.5, 2.0, 1.5, 1.0]))


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_combiners_sum_or_average_the_rows(combiner):
    got = tf.nn.embedding_lookup_sparse(TABLE, IDS, WEIGHTS, combiner)
    first = 0.5 * TABLE[1] + 2 * TABLE[3]
    scale = {"sum": 1, "mean": 2.5, "sqrtn": np.hypot(0.5, 2)}[combiner]
    assert got.shape == (4, 2)
    np.testing.assert_allclose(got[0], first / scale)
    np.testing.assert_array_equal(got[2], [0, 0])


def test_the_gradient_of_the_table_is_indexed_slices():
    table = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup_sparse(table, IDS, None, "sum")
    rows = tape.gradient(y, table)
    assert isinstance(rows, tf.IndexedSlices)
    np.testing.assert_array_equal(
        tf.convert_to_tensor(rows), [[1, 1], [1, 1], [0, 0], [2, 2], [0, 0]]
    )


def test_safe_lookups_skip_invalid_ids_and_fill_empty_rows():
    ids, weights = sparse(np.array([1, -1, 3, 0])), sparse(np.array([0.5, 2.0, -1.5, 1.0]))
    zeros = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, weights)
    np.testing.assert_allclose(zeros, [TABLE[1], [0, 0], [0, 0], TABLE[0], [0, 0]])
    filled = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, weights, default_id=2)
    np.testing.assert_allclose(filled, TABLE[[1, 2, 2, 0, 2]])


def test_unknown_combiners_and_dense_ids_raise():
    with pytest.raises(ValueError, match="combiner"):
        tf.nn.embedding_lookup_sparse(TABLE, IDS, None, "max")
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, [[1]], None)
