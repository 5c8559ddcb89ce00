"""tf.strings: hash buckets, with TensorFlow's hash functions."""

import pytest

import gradtape as tf

S = tf.strings
TEXTS = [b"", b"a", b"abc", b"abcdefgh", b"0123456789abcdef", b"x" * 17, b"y" * 32, b"z" * 33]
TEXTS += [b"w" * 64, b"v" * 65, b"u" * 100, bytes(range(256)), b"q" * 1000]


@pytest.mark.parametrize(
    ("call", "numbers"),
    [  # results of TensorFlow 2.21
        (
            lambda: S.to_hash_bucket_fast(TEXTS, 1000),
            "263 939 385 497 263 581 743 359 506 8 660 415 196",
        ),
        (lambda: S.to_hash_bucket(TEXTS, 7), "3 4 0 4 3 6 1 3 5 4 6 1 1"),
        (
            lambda: S.to_hash_bucket_strong(TEXTS[:3], 2**62, [1, 2]),
            "443797209252341627 546566331822570742 1250540936487842205",
        ),
    ],
)
def test_hashes_are_those_of_tensorflow(call, numbers):
    assert call().dtype == tf.int64
    assert call().numpy().tolist() == [int(n) for n in numbers.split()]


def test_hashes_reject_invalid_arguments():
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 1"):
        S.to_hash_bucket_fast("a", 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 elements"):
        S.to_hash_bucket_strong("a", 3, [1])
