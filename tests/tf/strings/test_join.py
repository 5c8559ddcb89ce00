"""tf.strings: join, reduce_join, segments and n-grams."""

import pytest

import gradtape as tf

S = tf.strings


def test_join_is_elementwise_and_reduce_join_along_an_axis():
    assert S.join([["a", "b"], "c"], separator="-").numpy().tolist() == [b"a-c", b"b-c"]
    assert S.reduce_join([["a", "b"], ["c", "d"]], axis=0).numpy().tolist() == [b"ac", b"bd"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes"):
        S.join([["a", "b"], ["c"]])


def test_ngrams_join_neighbours():
    assert S.ngrams(["a", "b", "c"], 2).numpy().tolist() == [b"a b", b"b c"]
    assert S.ngrams(["a", "b", "c"], [1, 3], "-").numpy().tolist() == [b"a", b"b", b"c", b"a-b-c"]
    assert S.ngrams(["a", "b"], 2, pad_values=("L", "R")).numpy().tolist() == [
        b"L a",
        b"a b",
        b"b R",
    ]
    assert S.ngrams(["a"], 3, preserve_short_sequences=True).numpy().tolist() == [b"a"]
    assert S.ngrams([["a", "b"], ["c", "d"]], 2).shape == (2, 1)


def test_unsorted_segment_join_joins_by_segment_id():
    joined = S.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, "-")
    assert joined.numpy().tolist() == [b"b", b"a-c", b""]
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment_ids"):
        S.unsorted_segment_join(["a"], [3], 2)
