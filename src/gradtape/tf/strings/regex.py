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
    r"""The strings with matches of `pattern` replaced; in `rewrite`, `\1` … are groups."""
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
    """A string as characters; bytes that are none stand for themselves."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """What `to_text` was made of."""
    return text.encode("utf-8", "surrogateescape")


def compiled(pattern: Any) -> re.Pattern[str]:
    """A regular expression over characters; its classes know ASCII only."""
    text = pattern if isinstance(pattern, str) else to_text(strings(pattern)[()])
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"regex: Invalid pattern: {text}, error: {error}.") from None
