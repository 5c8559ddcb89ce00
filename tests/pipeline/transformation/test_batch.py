"""Batches: stacking, padding, unbatching."""

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


def listed(dataset):
    return [np.asarray(element.numpy()).tolist() for element in dataset]


def stairs(n):
    return Dataset.range(1, n).map(lambda k: tf.fill([k], k))


def test_padding_to_the_longest_and_to_a_given_size():
    assert listed(stairs(4).padded_batch(3)) == [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
    fixed = stairs(5).padded_batch(2, padded_shapes=[5], drop_remainder=True)
    assert listed(fixed)[0] == [[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]]
    assert fixed.element_spec == tf.TensorSpec((2, 5), tf.int64)
    assert len(fixed) == 2


def test_padding_of_structures_with_different_values():
    pairs = Dataset.range(1, 5).map(lambda n: (tf.fill([n], n), n))
    dataset = pairs.padded_batch(
        3, padded_shapes=([None], []), padding_values=(np.int64(-1), np.int64(0))
    )
    (a, b), (c, d) = dataset
    assert a.numpy().tolist() == [[1, -1, -1], [2, 2, -1], [3, 3, 3]]
    assert b.numpy().tolist() == [1, 2, 3]
    assert (c.numpy().tolist(), d.numpy().tolist()) == ([[4, 4, 4, 4]], [4])
    named = Dataset.range(1, 3).map(lambda n: {"a": tf.fill([n], n), "b": n})
    (element,) = named.padded_batch(2, padded_shapes={"a": [3], "b": []})
    assert element["a"].numpy().tolist() == [[1, 0, 0], [2, 2, 0]]
    words = Dataset.from_tensors(["a"]).concatenate(Dataset.from_tensors(["b", "c"]))
    assert listed(words.padded_batch(2)) == [[[b"a", b""], [b"b", b"c"]]]


def test_rebatch_changes_the_batch_size():
    seven, ten = Dataset.range(7), Dataset.range(10)
    assert listed(seven.batch(3).rebatch(2)) == [[0, 1], [2, 3], [4, 5], [6]]
    assert listed(ten.batch(4).rebatch([2, 1])) == [[0, 1], [2], [3, 4], [5], [6, 7], [8], [9]]
    assert listed(ten.batch(4).rebatch(3, drop_remainder=True)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert seven.batch(3).rebatch(2).element_spec == tf.TensorSpec((None,), tf.int64)


def test_rows_are_gathered_in_every_structure():
    data = {"x": np.arange(12).reshape(6, 2), "y": (np.arange(6.0), np.array(list("abcdef")))}
    whole = Dataset.from_tensor_slices(data)
    for make in (
        lambda d: d,
        lambda d: d.shuffle(3, seed=1, reshuffle_each_iteration=False),
        lambda d: d.skip(1).take(4),
        lambda d: d.repeat(2).shard(2, 1),
    ):
        together, one_by_one = make(whole).batch(4), make(whole).map(lambda d: d).batch(4)
        for a, b in zip(together, one_by_one, strict=True):
            for p, q in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
                assert p.dtype == q.dtype
                np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_batches_do_not_alias_each_other():
    (first, second) = Dataset.from_tensor_slices(np.arange(4)).batch(2)
    first.numpy()[:] = 9
    assert second.numpy().tolist() == [2, 3]
    assert first.numpy().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).batch(0)),
        (ValueError, lambda: Dataset.range(3).padded_batch(2, padded_shapes=[3, 4])),
        (ValueError, lambda: Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=[2])),
        (ValueError, lambda: Dataset.range(3).unbatch()),
        (tf.errors.DataLossError, lambda: list(stairs(5).padded_batch(4, padded_shapes=[2]))),
        (TypeError, lambda: stairs(3).padded_batch(2, padding_values=np.float32(1))),
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).ragged_batch(0)),
        (tf.errors.InvalidArgumentError, lambda: list(stairs(4).batch(3))),
    ],
)
def test_invalid_arguments_raise(error, make):
    with pytest.raises(error):
        make()


def test_sparse_batch_of_elements_of_several_sizes():
    dataset = Dataset.range(1, 4).map(lambda n: tf.range(n) + 5)
    first, last = dataset.sparse_batch(2, [4])
    assert first.indices.numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert first.values.numpy().tolist() == [5, 5, 6]
    assert first.dense_shape.numpy().tolist() == [2, 4]
    assert last.dense_shape.numpy().tolist() == [1, 4]
    assert dataset.sparse_batch(2, [4]).element_spec == tf.SparseTensorSpec([None, 4], tf.int64)
    as_large = tf.data.experimental.dense_to_sparse_batch(3, [None])
    (all_of_them,) = dataset.apply(as_large)
    assert tf.sparse.to_dense(all_of_them).numpy().tolist() == [[5, 0, 0], [5, 6, 0], [5, 6, 7]]
    with pytest.raises(tf.errors.DataLossError, match="larger than the row shape"):
        list(dataset.sparse_batch(3, [2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible"):
        list(dataset.sparse_batch(3, [2, 2]))
    with pytest.raises(TypeError, match="single component"):
        dataset.enumerate().sparse_batch(3, [2])


def test_padded_batch_keeps_scalar_strings():
    data = tf.data.Dataset.from_tensor_slices((["a", "bb"], [1, 2]))
    text, _ = next(iter(data.map(lambda s, n: (s, tf.ones([n]))).padded_batch(2)))
    assert [type(one) for one in text.numpy()] == [bytes, bytes]
    assert tf.strings.length(text).numpy().tolist() == [1, 2]
    assert tf.strings.join([text, "!"]).numpy().tolist() == [b"a!", b"bb!"]


def test_a_padded_shape_may_be_the_size_of_a_vector():
    rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    assert [b.tolist() for b in rows.padded_batch(2, 3).as_numpy_iterator()] == [
        [[1, 0, 0], [2, 2, 0]]
    ]
    pairs = tf.data.Dataset.zip((rows, rows)).padded_batch(2, (3, tf.TensorShape([2])))
    first, second = next(iter(pairs))
    assert (first.shape, second.shape) == ((2, 3), (2, 2))
    with pytest.raises(ValueError, match="structure of the elements"):
        tf.data.Dataset.zip((rows, rows)).padded_batch(2, ([3],))
