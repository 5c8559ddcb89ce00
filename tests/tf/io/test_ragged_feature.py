"""RaggedFeature, and batches of SequenceExamples."""

import numpy as np
import pytest

import gradtape as tf

Ragged = tf.io.RaggedFeature


def integers(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def strings(*values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def example(**features):
    made = tf.train.Example(features=tf.train.Features(feature=features))
    return made.SerializeToString()


def sequence(context, **lists):
    lists = {key: tf.train.FeatureList(feature=steps) for key, steps in lists.items()}
    made = tf.train.SequenceExample(
        context=tf.train.Features(feature=context),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    )
    return made.SerializeToString()


EXAMPLES = [
    example(v=integers(3, 1, 4, 1), splits=integers(0, 2, 2, 4), text=strings(b"a")),
    example(v=integers(2, 7), splits=integers(0, 2), text=strings(b"b")),
]
SEQUENCES = [
    sequence(
        {"n": strings(b"x")}, d=[integers(1, 2), integers(3, 4)], w=[strings(b"p"), strings()]
    ),
    sequence({"n": strings(b"y")}, d=[integers(9, 9)], w=[strings(b"s", b"t")]),
]


def test_scalar_strings_of_a_batch_are_strings():
    found = tf.io.parse_example(EXAMPLES, {"text": tf.io.FixedLenFeature([], tf.string)})
    assert found["text"].numpy().tolist() == [b"a", b"b"]


def test_a_batch_without_partitions_has_a_row_for_each_example():
    found = tf.io.parse_example(EXAMPLES, {"v": Ragged(tf.int64)})["v"]
    assert found.to_list() == [[3, 1, 4, 1], [2, 7]]
    assert found.row_splits.dtype == tf.int32


def test_one_example_without_partitions_is_a_vector():
    found = tf.io.parse_single_example(EXAMPLES[0], {"v": Ragged(tf.int64)})["v"]
    assert found.numpy().tolist() == [3, 1, 4, 1]


@pytest.mark.parametrize("compiled", [False, True])
def test_partitions_make_rows(compiled):
    features = {"r": Ragged(tf.int64, "v", [Ragged.RowSplits("splits")])}
    parse = tf.function(tf.io.parse_example) if compiled else tf.io.parse_example
    found = parse(tf.constant(EXAMPLES), features)["r"]
    assert found.to_list() == [[[3, 1], [], [4, 1]], [[2, 7]]]


@pytest.mark.parametrize(
    ("partition", "values", "rows"),
    [
        (Ragged.RowLengths, [1, 0, 2], [[5], [], [6, 7]]),
        (Ragged.RowStarts, [0, 1, 1], [[5], [], [6, 7]]),
        (Ragged.RowLimits, [1, 1, 3], [[5], [], [6, 7]]),
        (Ragged.ValueRowIds, [0, 2, 2], [[5], [], [6, 7]]),
    ],
)
def test_kinds_of_partitions(partition, values, rows):
    text = example(v=integers(5, 6, 7), p=integers(*values))
    found = tf.io.parse_single_example(text, {"r": Ragged(tf.int64, "v", [partition("p")])})
    assert found["r"].to_list() == rows


def test_innermost_uniform_rows_are_dense():
    features = {"r": Ragged(tf.int64, "v", [Ragged.UniformRowLength(2)])}
    single = tf.io.parse_single_example(EXAMPLES[0], features)["r"]
    np.testing.assert_array_equal(single, [[3, 1], [4, 1]])
    batch = tf.io.parse_example(EXAMPLES, features)["r"]
    assert batch.shape.as_list() == [2, None, 2]


def test_a_partition_that_does_not_fit_raises():
    text = example(v=integers(5, 6, 7), p=integers(1, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not divide its 3 values"):
        tf.io.parse_single_example(text, {"r": Ragged(tf.int64, "v", [Ragged.RowLengths("p")])})


def test_wrong_descriptions_are_refused():
    with pytest.raises(ValueError, match="dtype must be"):
        Ragged(tf.int32)
    with pytest.raises(TypeError, match="a partition must be"):
        Ragged(tf.int64, "v", ["splits"])


@pytest.mark.parametrize("compiled", [False, True])
def test_a_batch_of_sequences_is_padded(compiled):
    def parse(texts):
        return tf.io.parse_sequence_example(
            texts,
            {"n": tf.io.FixedLenFeature([], tf.string)},
            {
                "d": tf.io.FixedLenSequenceFeature([2], tf.int64),
                "w": tf.io.VarLenFeature(tf.string),
                "missing": Ragged(tf.int64),
            },
        )

    context, steps, lengths = (tf.function(parse) if compiled else parse)(tf.constant(SEQUENCES))
    assert context["n"].numpy().tolist() == [b"x", b"y"]
    assert steps["d"].numpy().tolist() == [[[1, 2], [3, 4]], [[9, 9], [0, 0]]]
    assert lengths["d"].numpy().tolist() == [2, 1]
    dense = tf.sparse.to_dense(steps["w"]).numpy().tolist()
    assert dense == [[[b"p", b""], [b"", b""]], [[b"s", b"t"], [b"", b""]]]
    assert steps["missing"].to_list() == [[], []]


def test_ragged_features_of_steps():
    _, steps, _ = tf.io.parse_sequence_example(
        SEQUENCES, sequence_features={"w": Ragged(tf.string)}
    )
    assert steps["w"].to_list() == [[[b"p"], []], [[b"s", b"t"]]]


def test_a_missing_feature_list_raises():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'zz' is required"):
        tf.io.parse_sequence_example(
            SEQUENCES, sequence_features={"zz": tf.io.FixedLenSequenceFeature([2], tf.int64)}
        )


def test_a_saved_function_parses_ragged_features(tmp_path):
    features = {"r": Ragged(tf.int64, "v", [Ragged.RowSplits("splits")])}
    module = tf.Module()
    module.parse = tf.function(
        lambda texts: tf.io.parse_example(texts, features)["r"],
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.parse(tf.constant(EXAMPLES)).to_list() == [[[3, 1], [], [4, 1]], [[2, 7]]]
