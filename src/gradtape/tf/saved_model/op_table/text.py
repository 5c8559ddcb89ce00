"""Host ops of strings, of printing and of assertions."""

from __future__ import annotations

from encodings.aliases import aliases
from typing import Any

from gradtape.core.errors import InvalidArgumentError
from gradtape.tf.io.print import STDERR, STDOUT
from gradtape.tf.saved_model.attribute_type import (
    ARRAY,
    FLAG,
    INTEGER,
    LABEL,
    SIZE,
    TENSOR_LIKE,
    TEXT,
    AnyOf,
    AttributeType,
    Bytes,
    Choice,
    Dtype,
    Integer,
    Named,
    Optional,
    Printable,
    SequenceOf,
)
from gradtape.tf.saved_model.op_schema import CallOp, CheckOp, HostOp

UNIT = Choice("BYTE", "UTF8_CHAR")
OUTPUT_ENCODING = Choice("UTF-8", "UTF-16-BE", "UTF-32-BE")
# Codecs of Python that do not decode text from a character set.
OTHER_CODECS = frozenset(
    (
        "base64_codec", "bz2_codec", "hex_codec", "mbcs", "oem", "quopri_codec", "rot_13",
        "uu_codec", "zlib_codec",
    )
)  # fmt: skip
INPUT_ENCODINGS = frozenset(
    name for pair in aliases.items() for name in pair if pair[1] not in OTHER_CODECS
)


class Encoding(AttributeType):
    """The name of a character set."""

    text = "the name of a character set"

    def accepts(self, value: Any) -> bool:
        """Whether Python knows a character set of this name."""
        if not isinstance(value, str):
            return False
        return value.lower().replace("-", "_").replace(" ", "_") in INPUT_ENCODINGS


ENCODING = Encoding()
CODE_POINT = Integer(0, 0x10FFFF)
ERRORS = Choice("strict", "replace", "ignore")
DIGITS = Integer(-1000, 1000)
OPTIONAL_TEXT = Optional(TEXT)
COUNT = Optional(INTEGER)
BUCKETS = Integer(1, (1 << 63) - 1)
DECODING = {
    "input": TENSOR_LIKE,
    "input_encoding": ENCODING,
    "errors": ERRORS,
    "replacement_char": CODE_POINT,
}

STRING_OPS = (
    CallOp("strings.length", "tf.strings.byte_string:length", input=TENSOR_LIKE, unit=UNIT),
    CallOp(
        "strings.substr",
        "tf.strings.byte_string:substr",
        input=TENSOR_LIKE,
        pos=TENSOR_LIKE,
        len=TENSOR_LIKE,
        unit=UNIT,
    ),
    CallOp(
        "strings.lower",
        "tf.strings.byte_string:lower",
        input=TENSOR_LIKE,
        encoding=Choice("", "utf-8"),
    ),
    CallOp(
        "strings.upper",
        "tf.strings.byte_string:upper",
        input=TENSOR_LIKE,
        encoding=Choice("", "utf-8"),
    ),
    CallOp("strings.strip", "tf.strings.byte_string:strip", input=TENSOR_LIKE),
    CallOp(
        "strings.split",
        "tf.strings.byte_string:split",
        input=TENSOR_LIKE,
        sep=OPTIONAL_TEXT,
        maxsplit=INTEGER,
    ),
    CallOp("strings.bytes_split", "tf.strings.byte_string:bytes_split", input=TENSOR_LIKE),
    CallOp(
        "strings.as_string",
        "tf.strings.conversion:as_string",
        input=TENSOR_LIKE,
        precision=DIGITS,
        scientific=FLAG,
        shortest=FLAG,
        width=DIGITS,
        fill=Choice("", " ", "+", "-", "0", "#"),
    ),
    CallOp(
        "strings.to_number", "tf.strings.conversion:to_number", input=TENSOR_LIKE, out_type=Dtype()
    ),
    CallOp(
        "strings.format",
        "tf.strings.conversion:format",
        template=TEXT,
        inputs=TENSOR_LIKE,
        placeholder=LABEL,
        summarize=INTEGER,
    ),
    CallOp(
        "strings.hash_fast",
        "tf.strings.hash_bucket:to_hash_bucket_fast",
        input=TENSOR_LIKE,
        num_buckets=BUCKETS,
    ),
    CallOp(
        "strings.hash_strong",
        "tf.strings.hash_bucket:to_hash_bucket_strong",
        input=TENSOR_LIKE,
        num_buckets=BUCKETS,
        key=TENSOR_LIKE,
    ),
    CallOp(
        "strings.hash",
        "tf.strings.hash_bucket:to_hash_bucket",
        input=TENSOR_LIKE,
        num_buckets=BUCKETS,
    ),
    CallOp(
        "strings.join",
        "tf.strings.join:join",
        inputs=SequenceOf(TENSOR_LIKE),
        separator=TEXT,
    ),
    CallOp(
        "strings.reduce_join",
        "tf.strings.join:reduce_join",
        inputs=TENSOR_LIKE,
        axis=Optional(TENSOR_LIKE),
        keepdims=FLAG,
        separator=TEXT,
    ),
    CallOp(
        "strings.segment_join",
        "tf.strings.join:unsorted_segment_join",
        inputs=TENSOR_LIKE,
        segment_ids=TENSOR_LIKE,
        num_segments=TENSOR_LIKE,
        separator=TEXT,
    ),
    CallOp(
        "strings.ngrams",
        "tf.strings.join:ngrams",
        data=TENSOR_LIKE,
        ngram_width=AnyOf(SIZE, SequenceOf(SIZE)),
        separator=TEXT,
        pad_values=Optional(AnyOf(TEXT, Bytes(), SequenceOf(AnyOf(TEXT, Bytes())))),
        padding_width=Optional(SIZE),
        preserve_short_sequences=FLAG,
    ),
    CallOp(
        "strings.regex_replace",
        "tf.strings.regex:regex_replace",
        input=TENSOR_LIKE,
        pattern=TEXT,
        rewrite=TEXT,
        replace_global=FLAG,
    ),
    CallOp(
        "strings.regex_full_match",
        "tf.strings.regex:regex_full_match",
        input=TENSOR_LIKE,
        pattern=TEXT,
    ),
    CallOp(
        "strings.unicode_decode_with_offsets",
        "tf.strings.unicode:unicode_decode_with_offsets",
        **DECODING,
        replace_control_characters=FLAG,
    ),
    CallOp(
        "strings.unicode_decode",
        "tf.strings.unicode:unicode_decode",
        **DECODING,
        replace_control_characters=FLAG,
    ),
    CallOp(
        "strings.unicode_split_with_offsets",
        "tf.strings.unicode:unicode_split_with_offsets",
        **DECODING,
    ),
    CallOp("strings.unicode_split", "tf.strings.unicode:unicode_split", **DECODING),
    CallOp(
        "strings.unicode_encode",
        "tf.strings.unicode:unicode_encode",
        input=TENSOR_LIKE,
        output_encoding=OUTPUT_ENCODING,
        errors=ERRORS,
        replacement_char=CODE_POINT,
    ),
    CallOp(
        "strings.unicode_transcode",
        "tf.strings.unicode:unicode_transcode",
        input=TENSOR_LIKE,
        input_encoding=ENCODING,
        output_encoding=OUTPUT_ENCODING,
        errors=ERRORS,
        replacement_char=CODE_POINT,
        replace_control_characters=FLAG,
    ),
)

COMPARISONS = (
    "assert_equal",
    "assert_less",
    "assert_less_equal",
    "assert_greater",
    "assert_greater_equal",
)
SIGNS = ("assert_positive", "assert_negative", "assert_non_negative", "assert_non_positive")
ASSERTION = "tf.debugging.assertion"
CONSOLE = Named({"stdout": STDOUT, "stderr": STDERR})
CONSOLE.text = '"stdout" or "stderr", because a saved model prints to the console only'

CHECK_OPS = (
    CheckOp(
        "print",
        "tf.io.print:print_values",
        inputs=SequenceOf(Printable()),
        edge=INTEGER,
        sep=TEXT,
        end=TEXT,
        stream=CONSOLE,
    ),
    CheckOp(
        "debugging.assert",
        f"{ASSERTION}:Assert",
        condition=TENSOR_LIKE,
        data=SequenceOf(TENSOR_LIKE),
        summarize=COUNT,
    ),
    *(
        CheckOp(
            f"debugging.{name}",
            f"{ASSERTION}:{name}",
            x=TENSOR_LIKE,
            y=TENSOR_LIKE,
            message=OPTIONAL_TEXT,
            summarize=COUNT,
        )
        for name in COMPARISONS
    ),
    CheckOp(
        "debugging.assert_none_equal",
        f"{ASSERTION}:compare_none_equal",
        x=TENSOR_LIKE,
        y=TENSOR_LIKE,
        message=OPTIONAL_TEXT,
        summarize=COUNT,
    ),
    *(
        CheckOp(
            f"debugging.{name}",
            f"{ASSERTION}:{name}",
            x=TENSOR_LIKE,
            message=OPTIONAL_TEXT,
            summarize=COUNT,
        )
        for name in SIGNS
    ),
    CheckOp(
        "debugging.assert_near",
        f"{ASSERTION}:assert_near",
        x=TENSOR_LIKE,
        y=TENSOR_LIKE,
        rtol=Optional(TENSOR_LIKE),
        atol=Optional(TENSOR_LIKE),
        message=OPTIONAL_TEXT,
        summarize=COUNT,
    ),
    CheckOp(
        "debugging.check_finite",
        "tf.debugging.check_numerics:check_finite",
        x=TENSOR_LIKE,
        message=TEXT,
    ),
    CheckOp(
        "image.check_gamma",
        "tf.image.adjustment:check_gamma",
        gamma=ARRAY,
        kind=Named({"InvalidArgumentError": InvalidArgumentError, "ValueError": ValueError}),
    ),
)

TEXT_OPS: tuple[HostOp, ...] = STRING_OPS + CHECK_OPS
