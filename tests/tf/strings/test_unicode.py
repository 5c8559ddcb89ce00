"""tf.strings: characters in Unicode encodings."""

import pytest

import gradtape as tf

S = tf.strings


def test_strings_decode_to_code_points_and_encode_back():
    assert S.unicode_decode("héy€", "UTF-8").numpy().tolist() == [104, 233, 121, 8364]
    assert S.unicode_split("héy", "UTF-8").numpy().tolist() == [b"h", "é".encode(), b"y"]
    assert S.unicode_decode_with_offsets("héy", "UTF-8")[1].numpy().tolist() == [0, 1, 3]
    assert S.bytes_split("hé").numpy().tolist() == [b"h", b"\xc3", b"\xa9"]
    assert S.unicode_encode([[104, 233], [97, 98]], "UTF-16-BE").numpy().tolist() == [
        b"\x00h\x00\xe9",
        b"\x00a\x00b",
    ]
    assert S.unicode_transcode(b"h\xe9", "ISO-8859-1", "UTF-8").numpy() == "hé".encode()


def test_invalid_characters_are_replaced_ignored_or_rejected():
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
        with pytest.raises(tf.errors.InvalidArgumentError, match="unicode_"):
            call()


def test_characters_of_several_strings_are_ragged():
    assert S.unicode_decode(["ab", "c"], "UTF-8").to_list() == [[97, 98], [99]]
    assert S.unicode_split([["é", ""]], "UTF-8").to_list() == [[["é".encode()], []]]
    codes, starts = S.unicode_decode_with_offsets(["é!", ""], "UTF-8")
    assert (codes.to_list(), starts.to_list()) == ([[233, 33], []], [[0, 2], []])
    assert S.bytes_split(["ab", "c"]).to_list() == [[b"a", b"b"], [b"c"]]
    assert S.unicode_encode(codes, "UTF-8").numpy().tolist() == ["é!".encode(), b""]


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-32"])
def test_text_without_a_byte_order_mark_is_big_endian(encoding):
    for codec in (f"{encoding}-BE", encoding):
        raw = "a€\U00010437".encode(codec)
        out = tf.strings.unicode_transcode(raw, encoding, "UTF-8")
        assert out.numpy().decode() == "a€\U00010437"


def test_a_byte_order_mark_belongs_to_the_first_character():
    codes, offsets = tf.strings.unicode_decode_with_offsets(b"\xff\xfea\x00b\x00", "UTF-16")
    assert codes.numpy().tolist() == [97, 98]
    assert offsets.numpy().tolist() == [0, 4]


def test_a_truncated_character_is_replaced_once():
    codes, offsets = tf.strings.unicode_decode_with_offsets(b"\xe2\x82\xe2\x82\xac", "UTF-8")
    assert codes.numpy().tolist() == [65533, 8364]
    assert offsets.numpy().tolist() == [0, 2]


def test_a_replacement_character_in_the_text_is_valid():
    raw = "\ufffda".encode("UTF-16-BE")
    for errors in ("ignore", "strict"):
        codes = tf.strings.unicode_decode(raw, "UTF-16-BE", errors=errors)
        assert codes.numpy().tolist() == [0xFFFD, 97]


def test_control_characters_count_as_errors():
    def transcode(errors):
        return tf.strings.unicode_transcode(
            "a\x01b", "UTF-8", "UTF-8", errors=errors, replace_control_characters=True
        )

    assert transcode("ignore").numpy() == b"ab"
    with pytest.raises(tf.errors.InvalidArgumentError):
        transcode("strict")
    codes = tf.strings.unicode_decode("\x01", "UTF-8", "strict", 63, True)
    assert codes.numpy().tolist() == [63]


def test_wrong_replacements_and_encodings_raise():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_decode("a", "UTF-8", replacement_char=0x110000)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_split(b"\x00a", "UTF-16")
