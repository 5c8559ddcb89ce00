"""tf.print: prints values in TensorFlow's format."""

from __future__ import annotations

import pprint
import sys
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.convert import convert, is_tensor_like
from gradtape.core.errors import public
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.graph.side_effect import side_effect


class TensorText:
    """A placeholder in a nested structure for the text of a tensor.

    Its `repr` is a unique marker, which the tensor's text replaces after pretty-printing.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"\0{id(self)}\0"


class ConsoleStream:
    """Standard output or standard error, whichever object that is when something is printed."""

    def __init__(self, name: str) -> None:
        """`name` is "stdout" or "stderr"."""
        self.name = name

    def __repr__(self) -> str:
        return f"sys.{self.name}"

    def write(self, text: str) -> None:
        """Write and flush."""
        stream = sys.stdout if self.name == "stdout" else sys.stderr
        stream.write(text)
        stream.flush()


STDOUT = ConsoleStream("stdout")
STDERR = ConsoleStream("stderr")


@public
def print(*inputs: Any, **kwargs: Any) -> None:
    r"""Print values, with long tensors abbreviated, to standard error.

    Args:
        *inputs: values to print; nested structures may hold tensors.
        **kwargs: `output_stream` (sys.stderr by default, sys.stdout, a function that takes a text,
            or `"file://path"` to append to a file), `summarize` (how many elements to print at
            both ends of an axis, 3 by default, -1 for all), `sep` (" "), `end` ("\\n") and `name`.

    Returns:
        None.

    Raises:
        ValueError: if a keyword or the output stream is none of these.
    """
    stream = kwargs.pop("output_stream", None)
    if stream is None or stream is sys.stderr:
        stream = STDERR
    elif stream is sys.stdout:
        stream = STDOUT
    kwargs.pop("name", None)
    edge = kwargs.pop("summarize", None)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    print_values(list(inputs), 3 if edge is None else edge, sep, end, stream)


@side_effect()
def print_values(inputs: list[Any], edge: int, sep: str, end: str, stream: Any) -> None:
    """Format values and write them to the stream."""
    write_to_stream(sep.join(format_argument(one, edge) for one in inputs) + end, stream)


def write_to_stream(text: str, stream: Any) -> None:
    """Write `text` to the console, a function or a file."""
    if isinstance(stream, ConsoleStream):
        stream.write(text)
    elif callable(stream):
        stream(text.removesuffix("\n"))
    elif isinstance(stream, str) and stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
    else:
        raise ValueError(
            f"tf.print: unsupported output stream {stream!r}. Use sys.stdout, sys.stderr, a "
            "function or 'file://path'."
        )


def format_argument(value: Any, edge: int) -> str:
    """Format one argument."""
    if isinstance(value, str):
        return value
    if is_formatted_as_tensor(value):
        return format_tensor_like(value, edge)
    if not nest.is_nested(value):
        return repr(value)
    placeholders = []

    def replace_tensor(leaf: Any) -> Any:
        if not is_formatted_as_tensor(leaf):
            return leaf
        placeholders.append(TensorText(format_tensor_like(leaf, edge)))
        return placeholders[-1]

    text = " ".join(pprint.pformat(nest.map_structure(replace_tensor, value)).split())
    for one in placeholders:
        text = text.replace(repr(one), one.text)
    return text


def is_formatted_as_tensor(value: Any) -> bool:
    """Whether a value is formatted as a tensor, element by element."""
    return is_tensor_like(value) or isinstance(value, RaggedTensor)


def format_tensor_like(value: Any, edge: int) -> str:
    """Format a tensor, a ragged tensor, or a value that converts to a tensor."""
    if isinstance(value, RaggedTensor):
        return format_nested_list(value.to_list(), edge)
    return format_array(convert(value)._array, edge)


def format_nested_list(item: Any, edge: int) -> str:
    """Format nested lists with brackets and commas; long lists show only both ends."""
    if isinstance(item, list):
        long = 0 <= 2 * edge < len(item)
        near, far = (item[:edge], item[len(item) - edge :]) if long else (item, [])
        parts = [format_nested_list(one, edge) for one in near] + ["..."] * long
        return f"[{', '.join(parts + [format_nested_list(one, edge) for one in far])}]"
    if isinstance(item, bytes):
        return "'" + "".join(escape_character(c) for c in item.decode("utf-8", "replace")) + "'"
    if isinstance(item, bool):
        return str(item).lower()
    return f"{item:f}" if isinstance(item, float) else str(item)


def format_array(array: Any, edge: int, depth: int = 1) -> str:
    """Format an array with brackets and spaces, without commas; long axes show only both ends."""
    if not np.ndim(array):
        return format_element(array)
    size, rest = len(array), array.ndim - 1
    near = range(size) if edge < 0 or size <= 2 * edge else range(edge)
    far = range(max(len(near), size - edge), size) if len(near) < size else range(0)
    parts = [format_array(array[i], edge, depth + 1) for i in near]
    if len(near) < size:
        parts.append("...")
    parts += [format_array(array[i], edge, depth + 1) for i in far]
    between = "\n" * rest + " " * depth if rest else " "
    return f"[{between.join(parts)}]"


def format_element(item: Any) -> str:
    """Format one element: floats with few digits, bools as 0 and 1, strings in quotes."""
    if isinstance(item, np.ndarray):
        item = item[()]
    if isinstance(item, bytes):
        return '"' + "".join(escape_character(c) for c in item.decode("utf-8", "replace")) + '"'
    kind = item.dtype.kind
    if kind == "b":
        return str(int(item))
    if kind == "c":
        return "?"  # TensorFlow prints complex numbers so
    if kind in "iu":
        return str(int(item))
    short, long = (15, 17) if item.dtype.itemsize == 8 else (6, 9)
    text = f"{float(item):.{short}g}"
    wide = np.float64 if item.dtype.itemsize == 8 else np.float32
    return text if wide(text) == wide(item) or np.isnan(item) else f"{float(item):.{long}g}"


def escape_character(character: str) -> str:
    """Escape a character for a quoted string."""
    escapes = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
    code = ord(character)
    return escapes.get(character) or (character if code >= 32 and code != 127 else f"\\{code:03o}")
