"""Ragged and sparse arguments: the number of their values is open, as in TensorFlow."""

import numpy as np
import pytest

import gradtape as tf

RAGGED = tf.RaggedTensorSpec([None, None], tf.float32)
SPARSE = tf.SparseTensorSpec([None, 4], tf.float32)
ROWS = ([[1.0], [2.0, 3.0]], [[1.0], [5.0]], [[1.0], [], [4.0, 4.0, 4.0]])


def test_ragged_tensors_of_as_many_rows_share_a_trace():
    seen = []

    @tf.function
    def total(rows):
        seen.append((rows.shape.as_list(), rows.values.shape.as_list()))
        return tf.reduce_sum(rows, 1)

    for rows in ROWS:
        assert total(tf.ragged.constant(rows)).numpy().tolist() == [sum(row) for row in rows]
    assert seen == [([2, None], [None]), ([3, None], [None])]


@pytest.mark.parametrize("options", [{"input_signature": [RAGGED]}, {"reduce_retracing": True}])
def test_open_ragged_rows(options):
    seen = []

    def total(rows):
        seen.append(rows.shape.as_list())
        return tf.reduce_sum(rows, 1), rows.to_tensor()

    function = tf.function(total, **options)
    for rows in (*ROWS, [[2.0]]):
        sums, dense = function(tf.ragged.constant(rows, ragged_rank=1))
        assert sums.numpy().tolist() == [sum(row) for row in rows]
        assert dense.shape == (len(rows), max(map(len, rows)))
    assert seen[-1] == [None, None]
    assert len(seen) == (1 if "input_signature" in options else 2)


@pytest.mark.parametrize("options", [{"input_signature": [SPARSE]}, {"reduce_retracing": True}])
def test_open_sparse_tensors(options):
    seen = []

    def densify(sparse):
        seen.append((sparse.shape.as_list(), sparse.values.shape.as_list()))
        weights = tf.ones([4, 2])
        return tf.sparse.to_dense(sparse), tf.sparse.sparse_dense_matmul(sparse, weights)

    function = tf.function(densify, **options)
    for rows in (2, 3, 4, 1):
        dense, product = function(tf.sparse.from_dense(tf.eye(rows, 4)))
        assert dense.numpy().tolist() == np.eye(rows, 4).tolist()
        assert product.shape == (rows, 2)
    assert len(seen) == (1 if "input_signature" in options else 2)
    assert seen[-1][1] == [None]


def test_sparse_tensors_of_other_dense_shapes_have_traces_of_their_own():
    function = tf.function(lambda sparse: tf.zeros(sparse.shape))
    for rows, columns in ((2, 2), (3, 2), (2, 2)):
        sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [rows, columns])
        assert function(sparse).shape == (rows, columns)
    assert function.experimental_get_tracing_count() == 2


def test_concrete_functions_of_composite_specs():
    concrete = tf.function(
        lambda rows: (rows * 2.0, rows.to_tensor(), tf.concat([rows, rows], 0), rows[1:])
    ).get_concrete_function(RAGGED)
    specs = concrete.structured_outputs
    assert specs[0] == specs[2] == specs[3] == RAGGED
    assert specs[1] == tf.TensorSpec([None, None], tf.float32)
    for rows in ROWS:
        doubled, dense, both, rest = concrete(tf.ragged.constant(rows))
        assert doubled.to_list() == [[2 * value for value in row] for row in rows]
        assert dense.shape == (len(rows), max(map(len, rows)))
        assert both.to_list() == rows + rows
        assert rest.to_list() == rows[1:]
    with pytest.raises(TypeError):
        concrete()


def test_saved_functions_of_sparse_tensors(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda s: tf.sparse.reduce_sum(s, 1), input_signature=[SPARSE])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for rows in (1, 3):
        assert loaded.f(tf.sparse.from_dense(tf.eye(rows, 4))).numpy().tolist() == [1.0] * rows
