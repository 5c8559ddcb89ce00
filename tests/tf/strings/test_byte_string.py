"""tf.strings: notation of numbers, and bytes against characters."""

import pytest

import gradtape as tf

strings = tf.strings


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (3, {}, b"3"),
        (3, {"width": 5, "fill": "0"}, b"00003"),
        (3, {"width": 5, "fill": "-"}, b"3    "),
        (1.5, {}, b"1.500000"),
        (1.5, {"precision": 2}, b"1.50"),
        (1e10, {"scientific": True}, b"1.000000e+10"),
        (0.1, {"shortest": True}, b"0.1"),
        (True, {}, b"true"),
        (1 + 2j, {}, b"(1.000000,2.000000)"),
        (float("nan"), {}, b"nan"),
    ],
)
def test_numbers_as_text(value, options, text):
    assert strings.as_string(value, **options).numpy() == text


def test_options_that_do_not_fit():
    for value, options in ((3, {"precision": 2}), (1.0, {"scientific": True, "shortest": True})):
        with pytest.raises(tf.errors.InvalidArgumentError):
            strings.as_string(value, **options)


def test_joining():
    assert strings.join([["a", "b"], "c"], separator="-").numpy().tolist() == [b"a-c", b"b-c"]
    assert strings.reduce_join([["a", "b"], ["c", "d"]], axis=0).numpy().tolist() == [b"ac", b"bd"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes"):
        strings.join([["a", "b"], ["c"]])


def test_bytes_and_characters():
    assert strings.length(["abc", "é"]).numpy().tolist() == [3, 2]
    assert strings.length("é", unit="UTF8_CHAR").numpy() == 1
    assert strings.upper("é").numpy() == "é".encode()
    assert strings.upper("é", encoding="utf-8").numpy() == "É".encode()
    assert strings.substr("héllo", 1, 2, unit="UTF8_CHAR").numpy() == "él".encode()


def test_numbers_are_read_back():
    assert strings.to_number(["3", "-4"], tf.int32).numpy().tolist() == [3, -4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        strings.to_number("x")


def test_patterns():
    assert strings.regex_replace("hello", "l+", r"<\0>").numpy() == b"he<ll>o"
    assert strings.regex_full_match(["ab", "abc"], "a.").numpy().tolist() == [True, False]
    assert strings.split("a b  c").numpy().tolist() == [b"a", b"b", b"c"]
    assert strings.format("x={}", tf.constant([1.0, 2.0])).numpy() == b"x=[1 2]"
