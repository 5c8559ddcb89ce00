"""tf.strings functions that match regular expressions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shape_rule import BOOL, OBJECT
from gradtape.core.tensor import Tensor
from gradtape.graph.host_function import call_on_host, describe_like
from gradtape.tf.strings.byte_string import as_separator, as_string_array, map_elements
from gradtape.tf.strings.re2_syntax import replace_matches, translate_pattern


@public
@call_on_host(describe_like(OBJECT))
def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""The strings with matches of `pattern` replaced by `rewrite`, where `\1` is group 1.

    Args:
        input: a tensor of strings.
        pattern: a regular expression.
        rewrite: the replacement.
        replace_global: whether to replace every match.
        name: has no effect here.

    Returns:
        A tensor of strings.

    Example:
        >>> tf.strings.regex_replace("a-b-c", "-", "+").numpy()
        b'a+b+c'
    """
    found = compile_pattern(pattern)
    template = to_text(as_separator(rewrite, "rewrite"))
    return map_elements(
        lambda s: to_bytes(replace_matches(found, template, to_text(s), replace_global)),
        as_string_array(input),
    )


@public
@call_on_host(describe_like(BOOL))
def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """Whether the whole string matches `pattern`.

    Args:
        input: a tensor of strings.
        pattern: a regular expression.
        name: has no effect here.

    Returns:
        A tensor of bools.

    Example:
        >>> tf.strings.regex_full_match(["tape", "tap"], "ta.e").numpy()
        array([ True, False])
    """
    found = compile_pattern(pattern)
    return map_elements(
        lambda s: found.fullmatch(to_text(s)) is not None, as_string_array(input), dtype=np.bool_
    )


def to_text(data: bytes) -> str:
    """Decode UTF-8; invalid bytes become surrogates, which `to_bytes` restores."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """Encode as UTF-8; the inverse of `to_text`."""
    return text.encode("utf-8", "surrogateescape")


def compile_pattern(pattern: Any) -> re.Pattern[str]:
    """Compile a regular expression over characters; character classes match ASCII only."""
    text = pattern if isinstance(pattern, str) else to_text(as_string_array(pattern)[()])
    try:
        return re.compile(translate_pattern(text), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"regex: Invalid pattern: {text}, error: {error}.") from None
