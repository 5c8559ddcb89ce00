"""map_fn, vectorized_map, scan and folds: structures, dtypes and shapes, and empty inputs."""

import pytest

import gradtape as tf


def test_map_fn_results_must_match_the_signature():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        tf.map_fn(lambda t: tf.cast(t, tf.int32), x)
    with pytest.raises(ValueError, match="Incompatible shape"):
        tf.map_fn(lambda t: tf.stack([t, t]), x, fn_output_signature=tf.TensorSpec([3], tf.float32))
    with pytest.raises(ValueError, match="Incompatible shape"):
        tf.map_fn(tf.range, tf.constant([1, 2]))
    with pytest.raises(TypeError, match="structure"):
        tf.map_fn(lambda t: [t, t], x, fn_output_signature=(tf.float32, tf.float32))
    assert tf.map_fn(lambda t: t, x, fn_output_signature="float32").numpy().tolist() == [1.0, 2.0]


def test_maps_of_empty_tensors():
    assert tf.map_fn(lambda t: t, tf.zeros((0, 2))).shape == (0,)
    spec = tf.TensorSpec([3], tf.float32)
    assert tf.map_fn(lambda t: t, tf.zeros((0, 2)), fn_output_signature=spec).shape == (0, 3)
    assert tf.vectorized_map(lambda t: tf.stack([t, t]), tf.zeros((0, 2))).shape == (0, 2, 2)


def test_vectorized_map_broadcasts_single_slices_and_keeps_none():
    a, b = tf.constant([1.0, 2.0, 3.0]), tf.constant([5.0])
    assert tf.vectorized_map(lambda t: t[0] * t[1], [a, b]).numpy().tolist() == [5.0, 10.0, 15.0]
    assert tf.vectorized_map(lambda t: None, a) is None
    with pytest.raises(ValueError, match="first dimension"):
        tf.vectorized_map(lambda t: t[0], [a, tf.ones(2)])


def test_folds_of_empty_tensors():
    nothing = tf.zeros((0,))
    for fold in (tf.foldl, tf.foldr, tf.scan):
        with pytest.raises(tf.errors.OutOfRangeError, match="empty"):
            fold(lambda a, t: a, nothing)
    assert tf.foldl(lambda a, t: a, nothing, initializer=1.0) == 1.0
    assert tf.scan(lambda a, t: a, nothing, initializer=1.0).shape == (0,)


def test_a_fold_must_keep_its_structure_and_a_scan_its_shape():
    x = tf.constant([1.0, 2.0, 3.0])
    start = (tf.constant(0.0), tf.constant(1.0))
    with pytest.raises(TypeError, match="structure"):
        tf.scan(lambda a, t: [a[1], a[0]], x, initializer=start)
    with pytest.raises(ValueError, match="structure"):
        tf.foldl(lambda a, t: a[0], x, initializer=start)
    with pytest.raises(ValueError, match="None"):
        tf.foldl(lambda a, t: None, x)
    with pytest.raises(ValueError, match="Incompatible shape"):
        tf.scan(lambda a, t: tf.concat([a, [t]], 0), x, initializer=tf.zeros((1,)))
    reversed_sums = tf.scan(lambda a, t: a + t, x, reverse=True)
    assert reversed_sums.numpy().tolist() == [6.0, 5.0, 3.0]


@pytest.mark.parametrize("compiled", [False, True])
def test_sparse_results_are_stacked(compiled):
    def sizes(n):
        signature = tf.SparseTensorSpec(None, tf.float32)
        return tf.map_fn(tf.sparse.eye, n, fn_output_signature=signature)

    def rows(x):
        signature = tf.SparseTensorSpec([2], tf.int32)
        return tf.map_fn(tf.sparse.from_dense, x, fn_output_signature=signature)

    found = (tf.function(rows) if compiled else rows)(tf.constant([[1, 0], [0, 3]]))
    assert tf.sparse.to_dense(found).numpy().tolist() == [[1, 0], [0, 3]]
    if not compiled:
        assert sizes(tf.constant([2, 3])).dense_shape.numpy().tolist() == [2, 3, 3]
        assert sizes(tf.constant([], tf.int32)).dense_shape.numpy().tolist() == [0]
