"""Checks of single values in the tree of a model file; each returns the value or raises."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_NAME, MAX_RANK, MAX_SIZE, MAX_VALUE_NUMBER


def expect_dict(tree: Any, *required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A dict with exactly the `required` keys, and perhaps some `optional` ones."""
    if not isinstance(tree, dict):
        raise MalformedModel(f"a dict is expected. Received {shorten(tree)}")
    unknown = [key for key in tree if key not in required and key not in optional]
    if unknown:
        raise MalformedModel(f"there is no attribute {shorten(unknown[0])}")
    missing = [key for key in required if key not in tree]
    if missing:
        raise MalformedModel(f"the attribute {missing[0]!r} is missing")
    return tree


def expect_list(tree: Any, length: int | None = None) -> list[Any]:
    """A list, of this length if it is given."""
    if not isinstance(tree, list) or (length is not None and len(tree) != length):
        wanted = "a list" if length is None else f"a list of {length} entries"
        raise MalformedModel(f"{wanted} is expected. Received {shorten(tree)}")
    return tree


def expect_int(tree: Any, low: int, high: int) -> int:
    """An integer from `low` to `high`."""
    if type(tree) is not int or not low <= tree <= high:
        raise MalformedModel(
            f"an integer from {low} to {high} is expected. Received {shorten(tree)}"
        )
    return tree


def expect_number(tree: Any) -> int:
    """The number of a value in a graph."""
    return expect_int(tree, 0, MAX_VALUE_NUMBER)


def expect_index(tree: Any, count: int, what: str) -> int:
    """The number of one of `count` things."""
    if type(tree) is not int or not 0 <= tree < count:
        raise MalformedModel(f"there is no {what} {shorten(tree)}, there are {count}")
    return tree


def expect_bool(tree: Any) -> bool:
    """True or False."""
    if type(tree) is not bool:
        raise MalformedModel(f"true or false is expected. Received {shorten(tree)}")
    return tree


def expect_text(tree: Any, most: int = MAX_NAME) -> str:
    """A string of at most `most` characters."""
    if not isinstance(tree, str) or len(tree) > most:
        raise MalformedModel(
            f"a string of at most {most} characters is expected. Received {shorten(tree)}"
        )
    return tree


def expect_name(tree: Any) -> str:
    """A name: a string without control characters."""
    if not expect_text(tree).isprintable():
        raise MalformedModel(f"a printable name is expected. Received {shorten(tree)}")
    return str(tree)


def expect_choice(tree: Any, choices: Any, what: str) -> str:
    """One of some strings."""
    if not isinstance(tree, str) or tree not in choices:
        raise MalformedModel(f"there is no {what} {shorten(tree)}")
    return tree


def expect_dtype(tree: Any) -> dtypes.DType:
    """A dtype by its name."""
    found = DTYPES.get(tree) if isinstance(tree, str) else None
    if found is None:
        raise MalformedModel(f"there is no dtype {shorten(tree)}")
    return found


def expect_sizes(tree: Any) -> list[int | None] | None:
    """A shape: a list of sizes, each of which may be None, or None for an unknown rank."""
    if tree is None:
        return None
    if len(expect_list(tree)) > MAX_RANK:
        raise MalformedModel(f"a shape has at most {MAX_RANK} axes. Received {len(tree)}")
    return [None if size is None else expect_int(size, 0, MAX_SIZE) for size in tree]


DTYPES = {
    dtype.name: dtype
    for dtype in vars(dtypes).values()
    if isinstance(dtype, dtypes.DType) and dtype.name not in ("resource", "variant")
}
