"""tf.strings functions that match regular expressions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.graph.side_effect import on_host
from gradtape.tf.strings.byte_string import each, strings


@public
@on_host
def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""The strings with matches of `pattern` replaced by `rewrite`, where `\1` is group 1."""
    found = compiled(pattern)
    template = re.sub(r"\\(\d)", r"\\g<\1>", rewrite)
    count = 0 if replace_global else 1
    return each(lambda s: to_bytes(found.sub(template, to_text(s), count)), strings(input))


@public
@on_host
def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Tensor:
    """Whether the whole string matches `pattern`."""
    found = compiled(pattern)
    return each(lambda s: found.fullmatch(to_text(s)) is not None, strings(input), dtype=np.bool_)


def to_text(data: bytes) -> str:
    """Decode UTF-8; invalid bytes become surrogates, which `to_bytes` restores."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """Encode as UTF-8; the inverse of `to_text`."""
    return text.encode("utf-8", "surrogateescape")


def compiled(pattern: Any) -> re.Pattern[str]:
    """Compile a regular expression over characters; character classes match ASCII only."""
    text = pattern if isinstance(pattern, str) else to_text(strings(pattern)[()])
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"regex: Invalid pattern: {text}, error: {error}.") from None
