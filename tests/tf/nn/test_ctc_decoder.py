"""Decoders of connectionist temporal classification."""

import numpy as np
import pytest

import gradtape as tf

# best classes 0 0 2 1 | 1 2 (1) (0), where 2 is the blank
SCORES = np.log(
    [
        [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1]],
        [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]],
        [[0.1, 0.2, 0.7], [0.1, 0.8, 0.1]],
        [[0.1, 0.8, 0.1], [0.6, 0.2, 0.2]],
    ]
).astype(np.float32)


def test_greedy_decoding_merges_labels_and_drops_blanks():
    (decoded,), total = tf.nn.ctc_greedy_decoder(SCORES, [4, 2])
    assert tf.sparse.to_dense(decoded, -1).numpy().tolist() == [[0, 1], [1, -1]]
    np.testing.assert_allclose(np.exp(-total), [[0.6 * 0.5 * 0.7 * 0.8], [0.7 * 0.7]], rtol=1e-5)
    (unmerged,), _ = tf.nn.ctc_greedy_decoder(SCORES, [4, 2], merge_repeated=False)
    assert unmerged.values.numpy().tolist() == [0, 0, 1, 1]
    (other,), _ = tf.nn.ctc_greedy_decoder(SCORES, [4, 2], blank_index=0)
    assert other.values.numpy().tolist() == [2, 1, 1, 2]


def test_beam_search_sums_over_the_paths_to_a_sequence():
    decoded, likely = tf.nn.ctc_beam_search_decoder(SCORES[:2], [2, 2], top_paths=2)
    # paths of the first sequence, with - for blank: 00, 0- and -0 give (0); 01 gives (0, 1)
    first = 0.6 * 0.5 + 0.6 * 0.2 + 0.1 * 0.5
    second = 0.6 * 0.3
    np.testing.assert_allclose(np.exp(likely[0]), [first, second], rtol=1e-5)
    assert decoded[0].values.numpy().tolist() == [0, 1]
    assert decoded[1].indices.numpy()[:2].tolist() == [[0, 0], [0, 1]]


def test_shapes_are_checked():
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch"):
        tf.nn.ctc_greedy_decoder(SCORES, [4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most 4"):
        tf.nn.ctc_greedy_decoder(SCORES, [5, 1])
