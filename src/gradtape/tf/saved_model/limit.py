"""Limits of a model file, and the check that a tree keeps within them."""

from __future__ import annotations

from typing import Any

from gradtape.tf.saved_model.failure import MalformedModel, shorten

MAX_MODEL_BYTES = 1 << 28  # of gradtape_model.json
MAX_MANIFEST_BYTES = 1 << 24  # of gradtape_checksums.json
MAX_DEPTH = 200  # nested lists and dicts
MAX_VALUES = 20_000_000  # numbers, strings, lists and dicts
MAX_NODES = 1_000_000  # of all graphs together
MAX_TEXT = 1 << 24  # characters of one string
MAX_NAME = 4096  # characters of a name
MAX_VALUE_NUMBER = 1 << 31  # number of a value in a graph
MAX_RANK = 64  # axes of an array; NumPy has no more
MAX_SIZE = 1 << 40  # elements along an axis, and of an array
MAX_TERMS = 256  # of a size that is an expression
MAX_FACTORS = 16  # of a term of such a size
MAX_INTEGER = 1 << 64  # absolute value of an integer


def check_limits(tree: Any) -> None:
    """Check depth, number of values, strings and integers of a tree, without recursion.

    Raises:
        MalformedModel: if one is too large.
    """
    rest: list[tuple[Any, int]] = [(tree, 1)]
    count = 0
    while rest:
        value, depth = rest.pop()
        count += 1
        if count > MAX_VALUES:
            raise MalformedModel(f"it must have at most {MAX_VALUES} values")
        if isinstance(value, (dict, list, tuple)):
            if depth > MAX_DEPTH:
                raise MalformedModel(f"lists and dicts must be nested at most {MAX_DEPTH} deep")
            inner = value
            if isinstance(value, dict):
                for key in value:
                    check_text(key)
                inner = list(value.values())
            rest += [(one, depth + 1) for one in inner]
        elif isinstance(value, str):
            check_text(value)
        elif type(value) is int and not -MAX_INTEGER < value < MAX_INTEGER:
            raise MalformedModel("integers must have at most 64 bits")


def check_text(text: str) -> None:
    """Check the length of a string, and that UTF-8 can encode it."""
    if len(text) > MAX_TEXT:
        raise MalformedModel(f"strings must have at most {MAX_TEXT} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MalformedModel(f"strings must be valid Unicode. Received {shorten(text)}") from None
