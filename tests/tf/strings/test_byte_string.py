"""tf.strings: lengths, substrings, case and splitting, by bytes and by characters."""

import gradtape as tf

S = tf.strings


def test_units_are_bytes_unless_an_encoding_is_given():
    assert S.length(["abc", "é"]).numpy().tolist() == [3, 2]
    assert S.length("é", unit="UTF8_CHAR").numpy() == 1
    assert S.upper("é").numpy() == "é".encode()
    assert S.upper("é", encoding="utf-8").numpy() == "É".encode()
    assert S.substr("héllo", 1, 2, unit="UTF8_CHAR").numpy() == "él".encode()


def test_split_without_a_separator_splits_at_whitespace():
    assert S.split("a b  c").numpy().tolist() == [b"a", b"b", b"c"]


def test_split_in_a_pipeline_has_an_unknown_length(tmp_path):
    path = tmp_path / "t"
    path.write_text("a b\nc\n")
    dataset = tf.data.TextLineDataset(str(path)).map(S.split)
    assert dataset.element_spec.shape.as_list() == [None]
    assert [words.numpy().tolist() for words in dataset] == [[b"a", b"b"], [b"c"]]
