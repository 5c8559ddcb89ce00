"""Result rules of functions that run on the host: they describe what the functions return."""

import pytest

import gradtape as tf
from gradtape.core import nest

WORDS = tf.constant(["a b", "c", "d e f"])
PICTURE = tf.io.encode_png(tf.zeros([2, 3, 3], tf.uint8))
PHOTO = tf.io.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8))
SOUND = tf.audio.encode_wav(tf.zeros([4, 1]), 8000)
EXAMPLE = tf.train.Example(
    features=tf.train.Features(
        feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}
    )
).SerializeToString()
FEATURES = {
    "a": tf.io.FixedLenFeature([2], tf.int64),
    "b": tf.io.VarLenFeature(tf.float32),
    "c": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}
SETS = tf.constant([[1, 2, 2], [3, 4, 5]])
BOXES = tf.zeros([1, 1, 4])

SAMPLES = {
    "length": (tf.strings.length, WORDS),
    "lower": (tf.strings.lower, WORDS),
    "substr": (lambda s: tf.strings.substr(s, 0, 1), WORDS),
    "split": (tf.strings.split, WORDS),
    "split_matrix": (lambda s: tf.strings.split(tf.reshape(s, [3, 1])), WORDS),
    "bytes_split": (tf.strings.bytes_split, WORDS),
    "to_number": (tf.strings.to_number, tf.constant(["1", "2.5"])),
    "as_string": (tf.strings.as_string, SETS),
    "format": (lambda s: tf.strings.format("{}", s), WORDS),
    "join": (lambda s: tf.strings.join([s, "x"]), WORDS),
    "reduce_join": (lambda s: tf.strings.reduce_join(s, keepdims=True), WORDS),
    "segment_join": (lambda s: tf.strings.unsorted_segment_join(s, [0, 1, 0], 2), WORDS),
    "ngrams": (lambda s: tf.strings.ngrams(s, 2), WORDS),
    "ragged_ngrams": (lambda s: tf.strings.ngrams(tf.strings.split(s), 2), WORDS),
    "regex_replace": (lambda s: tf.strings.regex_replace(s, "a", "b"), WORDS),
    "regex_full_match": (lambda s: tf.strings.regex_full_match(s, "c"), WORDS),
    "hash": (lambda s: tf.strings.to_hash_bucket_fast(s, 5), WORDS),
    "unicode_decode": (lambda s: tf.strings.unicode_decode(s, "UTF-8"), WORDS),
    "unicode_split_with_offsets": (
        lambda s: tf.strings.unicode_split_with_offsets(s, "UTF-8"),
        WORDS,
    ),
    "unicode_encode": (lambda x: tf.strings.unicode_encode(x, "UTF-8"), SETS),
    "decode_raw": (lambda s: tf.io.decode_raw(s, tf.uint8, fixed_length=4), WORDS),
    "decode_raw_of_one": (lambda s: tf.io.decode_raw(s, tf.uint8), "abc"),
    "base64": (lambda s: tf.io.decode_base64(tf.io.encode_base64(s)), WORDS),
    "serialize_tensor": (tf.io.serialize_tensor, SETS),
    "decode_csv": (lambda s: tf.io.decode_csv(s, [["x"]]), WORDS),
    "decode_png": (lambda s: tf.io.decode_png(s, channels=3), PICTURE),
    "decode_image": (lambda s: tf.io.decode_image(s, expand_animations=False), PICTURE),
    "decode_jpeg": (tf.io.decode_jpeg, PHOTO),
    "extract_jpeg_shape": (tf.io.extract_jpeg_shape, PHOTO),
    "is_jpeg": (tf.io.is_jpeg, WORDS),
    "decode_wav": (lambda s: tuple(tf.audio.decode_wav(s, desired_channels=1)), SOUND),
    "parse_single_example": (lambda s: tf.io.parse_single_example(s, FEATURES), EXAMPLE),
    "parse_example": (
        lambda s: tf.io.parse_example(s, FEATURES),
        tf.constant([EXAMPLE, EXAMPLE]),
    ),
    "intersection": (lambda x: tf.sets.intersection(x, x), SETS),
    "set_size": (lambda x: tf.sets.size(tf.sets.union(x, x)), SETS),
    "box": (
        lambda x: tuple(tf.image.sample_distorted_bounding_box(tf.shape(x), BOXES, seed=1)),
        tf.zeros([6, 7, 3]),
    ),
    "sparse_reorder": (lambda x: tf.sparse.reorder(tf.sparse.from_dense(x)), SETS),
    "sparse_reduce_sum": (lambda x: tf.sparse.reduce_sum(tf.sparse.from_dense(x), 1), SETS),
}


def specs_of(value):
    return [tf.TensorSpec(t.shape, t.dtype) for t in nest.flatten(value, expand_composites=True)]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_rule_describes_what_the_function_returns(name):
    function, argument = SAMPLES[name]
    argument = tf.constant(argument)
    signature = [tf.TensorSpec([None] * argument.ndim, argument.dtype)]
    traced = tf.function(function, input_signature=signature)
    wanted = specs_of(function(argument))
    described = []

    def note(x):
        out = function(x)
        described.extend(specs_of(out))
        return out

    tf.function(note).get_concrete_function(*signature)
    assert len(described) == len(wanted)
    assert all(a.is_compatible_with(b) for a, b in zip(described, wanted, strict=True))
    assert [s.shape for s in specs_of(traced(argument))] == [s.shape for s in wanted]


def test_sizes_of_the_arguments_stay_open_in_a_call():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def measure(words):
        return tf.strings.length(words), tf.strings.upper(words)

    for count in (2, 3, 5):
        lengths, upper = measure(tf.constant(["ab"] * count))
        assert lengths.numpy().tolist() == [2] * count
        assert upper.shape == (count,)
    assert measure.experimental_get_tracing_count() == 1
