"""tf.strings: regular expressions."""

import pytest

import gradtape as tf

S = tf.strings


def test_regex_replace_and_full_match():
    assert S.regex_replace("hello", "l+", r"<\0>").numpy() == b"he<ll>o"
    assert S.regex_full_match(["ab", "abc"], "a.").numpy().tolist() == [True, False]


def test_patterns_match_characters_not_bytes():
    assert S.regex_replace("hé", ".", "x").numpy() == b"xx"
    assert S.regex_replace(b"a\xff", "a", "b").numpy() == b"b\xff"
    assert S.regex_full_match("é", ".").numpy()
    assert not S.regex_full_match("é", r"\w").numpy()


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\p{Ll}", "abCé", "<a><b>C<é>"),
        (r"[^\p{L}]", "a1é", "a<1>é"),
        (r"\PL", "a1é", "a<1>é"),
        (r"\p{^Lu}", "aB", "<a>B"),
        (r"[[:^digit:][:digit:]]", "a1", "<a><1>"),
        (r"\Q.\E", "a.b", "a<.>b"),
        (r"\z", "ab", "ab<>"),
        (r"\x{61}", "ab", "<a>b"),
        (r"\s", "\t\x0b", "<\t>\x0b"),
        (r"[\s\S]", "\x0b", "<\x0b>"),
        (r"a{,2}", "aa{,2}", "a<a{,2}>"),
        (r"[(?=*+]", "a(+", "a<(><+>"),
        ("a*", "ab", "<a>b<>"),
    ],
)
def test_patterns_have_the_syntax_of_re2(pattern, text, expected):
    out = tf.strings.regex_replace(text, pattern, r"<\0>")
    assert out.numpy().decode() == expected


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "a(?=b)", "a*+", r"a\Z", "(?#c)a", "[[:foo:]]", r"\p{Foo}", "\\"]
)
def test_patterns_that_re2_refuses_raise(pattern):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.regex_full_match("a", pattern)


def test_an_invalid_rewrite_stops_at_the_mistake():
    assert tf.strings.regex_replace("xay", "(a)", r"\2").numpy() == b"xay"
    assert tf.strings.regex_replace("xay", "(a)", r"b\n").numpy() == b"xby"
    assert tf.strings.regex_replace("xay", "(a)", r"\\\1").numpy() == b"x\\ay"
