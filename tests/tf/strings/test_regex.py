"""tf.strings: regular expressions."""

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
