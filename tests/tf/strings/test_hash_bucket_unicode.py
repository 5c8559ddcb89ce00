"""tf.strings: hashes, Unicode, n-grams, and strings inside functions and pipelines."""

import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError

S = tf.strings
TEXTS = [b"", b"a", b"abc", b"abcdefgh", b"0123456789abcdef", b"x" * 17, b"y" * 32, b"z" * 33]
TEXTS += [b"w" * 64, b"v" * 65, b"u" * 100, bytes(range(256)), b"q" * 1000]


@pytest.mark.parametrize(
    ("call", "numbers"),
    [  # as TensorFlow 2.21 gives them
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
def test_hashes(call, numbers):
    assert call().dtype == tf.int64
    assert call().numpy().tolist() == [int(n) for n in numbers.split()]


def test_wrong_arguments_of_hashes():
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        S.to_hash_bucket_fast("a", 0)
    with pytest.raises(InvalidArgumentError, match="2 elements"):
        S.to_hash_bucket_strong("a", 3, [1])


def test_characters():
    assert S.unicode_decode("héy€", "UTF-8").numpy().tolist() == [104, 233, 121, 8364]
    assert S.unicode_split("héy", "UTF-8").numpy().tolist() == [b"h", "é".encode(), b"y"]
    assert S.unicode_decode_with_offsets("héy", "UTF-8")[1].numpy().tolist() == [0, 1, 3]
    assert S.bytes_split("hé").numpy().tolist() == [b"h", b"\xc3", b"\xa9"]
    assert S.unicode_encode([[104, 233], [97, 98]], "UTF-16-BE").numpy().tolist() == [
        b"\x00h\x00\xe9",
        b"\x00a\x00b",
    ]
    assert S.unicode_transcode(b"h\xe9", "ISO-8859-1", "UTF-8").numpy() == "hé".encode()


def test_what_is_wrong_is_replaced_left_out_or_refused():
    assert S.unicode_decode(b"a\xffb", "UTF-8").numpy().tolist() == [97, 65533, 98]
    assert S.unicode_decode(b"a\xffb", "UTF-8", "ignore").numpy().tolist() == [97, 98]
    assert S.unicode_encode([0xD800, 97], "UTF-8").numpy() == b"\xef\xbf\xbda"
    assert S.unicode_decode(b"\x01", "UTF-8", replace_control_characters=True).numpy() == [65533]
    for call in (
        lambda: S.unicode_decode(b"a\xff", "UTF-8", "strict"),
        lambda: S.unicode_encode([0xD800], "UTF-8", "strict"),
        lambda: S.unicode_encode([97], "LATIN-1"),
        lambda: S.unicode_decode("x", "FOO"),
    ):
        with pytest.raises(InvalidArgumentError, match="unicode_"):
            call()


def test_characters_of_several_strings_are_ragged():
    assert S.unicode_decode(["ab", "c"], "UTF-8").to_list() == [[97, 98], [99]]
    assert S.unicode_split([["é", ""]], "UTF-8").to_list() == [[["é".encode()], []]]
    codes, starts = S.unicode_decode_with_offsets(["é!", ""], "UTF-8")
    assert (codes.to_list(), starts.to_list()) == ([[233, 33], []], [[0, 2], []])
    assert S.bytes_split(["ab", "c"]).to_list() == [[b"a", b"b"], [b"c"]]
    assert S.unicode_encode(codes, "UTF-8").numpy().tolist() == ["é!".encode(), b""]


def test_neighbours():
    assert S.ngrams(["a", "b", "c"], 2).numpy().tolist() == [b"a b", b"b c"]
    assert S.ngrams(["a", "b", "c"], [1, 3], "-").numpy().tolist() == [b"a", b"b", b"c", b"a-b-c"]
    assert S.ngrams(["a", "b"], 2, pad_values=("L", "R")).numpy().tolist() == [
        b"L a",
        b"a b",
        b"b R",
    ]
    assert S.ngrams(["a"], 3, preserve_short_sequences=True).numpy().tolist() == [b"a"]
    assert S.ngrams([["a", "b"], ["c", "d"]], 2).shape == (2, 1)


def test_joining_by_number():
    joined = S.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, "-")
    assert joined.numpy().tolist() == [b"b", b"a-c", b""]
    with pytest.raises(InvalidArgumentError, match="segment_ids"):
        S.unsorted_segment_join(["a"], [3], 2)


def test_expressions_go_by_characters():
    assert S.regex_replace("hé", ".", "x").numpy() == b"xx"
    assert S.regex_replace(b"a\xff", "a", "b").numpy() == b"b\xff"
    assert S.regex_full_match("é", ".").numpy()
    assert not S.regex_full_match("é", r"\w").numpy()


@pytest.mark.parametrize("text", ["99999999999", "1_0", "1.5", ""])
def test_what_is_no_int32(text):
    with pytest.raises(InvalidArgumentError, match="could not correctly convert"):
        S.to_number(text, tf.int32)


def test_strings_in_a_function():
    calls = []

    @tf.function
    def number(text):
        calls.append(1)
        return S.to_number(S.regex_replace(text, "x", ""), tf.float32) * 2

    assert [float(number(tf.constant(f"x{n}"))) for n in range(20)] == [2.0 * n for n in range(20)]
    assert len(calls) <= 2, "another string is no reason to trace again"


def test_words_in_a_pipeline(tmp_path):
    path = tmp_path / "t"
    path.write_text("a b\nc\n")
    dataset = tf.data.TextLineDataset(str(path)).map(S.split)
    assert dataset.element_spec.shape.as_list() == [None]
    assert [words.numpy().tolist() for words in dataset] == [[b"a", b"b"], [b"c"]]
