"""tf.strings: numbers written as text and parsed from text."""

import pytest

import gradtape as tf

S = tf.strings


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
def test_as_string_formats_numbers_like_printf(value, options, text):
    assert S.as_string(value, **options).numpy() == text


def test_as_string_rejects_options_that_conflict():
    for value, options in ((3, {"precision": 2}), (1.0, {"scientific": True, "shortest": True})):
        with pytest.raises(tf.errors.InvalidArgumentError):
            S.as_string(value, **options)


def test_to_number_parses_text():
    assert S.to_number(["3", "-4"], tf.int32).numpy().tolist() == [3, -4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        S.to_number("x")


@pytest.mark.parametrize("text", ["99999999999", "1_0", "1.5", ""])
def test_to_number_rejects_text_that_is_not_an_int32(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        S.to_number(text, tf.int32)


def test_a_function_does_not_retrace_for_another_string():
    calls = []

    @tf.function
    def number(text):
        calls.append(1)
        return S.to_number(S.regex_replace(text, "x", ""), tf.float32) * 2

    assert [float(number(tf.constant(f"x{n}"))) for n in range(20)] == [2.0 * n for n in range(20)]
    assert len(calls) <= 2, "another string must not retrace"


def test_format_replaces_placeholders_with_tensors():
    assert S.format("x={}", tf.constant([1.0, 2.0])).numpy() == b"x=[1 2]"
