"""Types of the attributes of ops in model files: each says which values it takes, and which range.

A type checks values, not trees. An integer may be a symbolic size; it is checked again for the
sizes of a call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtape.core.dims import Dim
from gradtape.core.dtypes import DType
from gradtape.graph.side_effect import TensorSlot
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_NAME, MAX_RANK, MAX_SIZE, MAX_TEXT


def lies_between(size: Dim, low: int, high: int) -> bool:
    """Whether a symbolic size is in a range; in a trace that becomes an assumption.

    Sizes of a file belong to no trace: they are in the range unless the opposite can be proved.
    """
    context = size.context
    if not context.is_frozen:
        return bool(low <= size <= high)
    return not (context.prove("<", size - low) or context.prove("<", high - size))


class AttributeType:
    """The type of an attribute; `text` says in a message what it takes."""

    text = ""

    def accepts(self, value: Any) -> bool:
        """Whether a value has this type and lies in its range."""
        raise NotImplementedError

    def check(self, value: Any) -> None:
        """Raise `MalformedModel` unless a value has this type."""
        if not self.accepts(value):
            raise MalformedModel(f"must be {self.text}. Received {shorten(value)}")

    def to_plain(self, value: Any) -> Any:
        """The value that the file holds in place of `value`."""
        return value

    def from_plain(self, value: Any) -> Any:
        """The value that the op takes in place of the one in the file."""
        return value


class Flag(AttributeType):
    """True or False."""

    text = "true or false"

    def accepts(self, value: Any) -> bool:
        """Whether this is a bool."""
        return isinstance(value, (bool, np.bool_))


class Integer(AttributeType):
    """An integer in a range."""

    def __init__(self, low: int = -(1 << 63), high: int = (1 << 64) - 1) -> None:
        """From `low` to `high`, both included."""
        self.low, self.high = low, high
        self.text = f"an integer from {low} to {high}"

    def accepts(self, value: Any) -> bool:
        """Whether this is an integer in the range."""
        if type(value) is Dim:
            return lies_between(value, self.low, self.high)
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        return whole and self.low <= value <= self.high


class Number(AttributeType):
    """A real number."""

    text = "a number"

    def accepts(self, value: Any) -> bool:
        """Whether this is a float or an integer; NumPy's narrow floats count."""
        if type(value) is Dim:
            return True
        if isinstance(value, np.generic):
            return value.dtype.kind in "fiuV"
        return isinstance(value, (int, float)) and not isinstance(value, bool)


class Scalar(AttributeType):
    """A number of any kind, or a scalar array."""

    text = "a scalar"

    def accepts(self, value: Any) -> bool:
        """Whether this is a Python number or a NumPy scalar."""
        if type(value) is Dim:
            return True
        if isinstance(value, np.ndarray):
            return value.shape == ()
        return isinstance(value, (bool, int, float, complex, np.generic))


class Text(AttributeType):
    """A string."""

    def __init__(self, most: int = MAX_TEXT, pattern: str | None = None) -> None:
        """Of at most `most` characters; the whole string matches `pattern`."""
        self.most = most
        self.pattern = None if pattern is None else re.compile(pattern)
        self.text = f"a string of at most {most} characters"
        if pattern is not None:
            self.text += f" like {pattern}"

    def accepts(self, value: Any) -> bool:
        """Whether this is a string that is short enough and matches."""
        if not isinstance(value, str) or len(value) > self.most:
            return False
        return self.pattern is None or self.pattern.fullmatch(value) is not None


class Bytes(AttributeType):
    """A byte string."""

    text = f"at most {MAX_TEXT} bytes"

    def accepts(self, value: Any) -> bool:
        """Whether this is a byte string that is short enough."""
        return isinstance(value, bytes) and len(value) <= MAX_TEXT


class Choice(AttributeType):
    """One of a few plain values."""

    def __init__(self, *choices: Any) -> None:
        """One of these."""
        self.choices = choices
        self.text = f"one of {', '.join(map(repr, choices))}"

    def accepts(self, value: Any) -> bool:
        """Whether this is one of them; True is not 1."""
        return any(type(value) is type(one) and value == one for one in self.choices)


class Named(AttributeType):
    """One of a few objects, which the file calls by name."""

    def __init__(self, objects: Mapping[str, Any]) -> None:
        """One of these."""
        self.objects = dict(objects)
        self.text = f"one of {', '.join(map(repr, self.objects))}"

    def accepts(self, value: Any) -> bool:
        """Whether this is one of the names."""
        return isinstance(value, str) and value in self.objects

    def to_plain(self, value: Any) -> Any:
        """The name of an object."""
        return next((name for name, one in self.objects.items() if one is value), value)

    def from_plain(self, value: Any) -> Any:
        """The object of this name."""
        return self.objects[value]


class Dtype(AttributeType):
    """A dtype."""

    text = "a dtype"

    def accepts(self, value: Any) -> bool:
        """Whether this is a dtype of NumPy's or TensorFlow's."""
        if isinstance(value, type):  # as `np.float32`; in a file it is a dtype
            return issubclass(value, np.generic) or value in (bool, int, float, complex, object)
        return isinstance(value, (np.dtype, DType))


class Optional(AttributeType):
    """None, or a value of another type."""

    def __init__(self, inner: AttributeType) -> None:
        """None or an `inner` value."""
        self.inner = inner
        self.text = f"null or {inner.text}"

    def accepts(self, value: Any) -> bool:
        """Whether this is None or has the other type."""
        return value is None or self.inner.accepts(value)


class AnyOf(AttributeType):
    """A value of one of several types."""

    def __init__(self, *types: AttributeType) -> None:
        """Of one of these types."""
        self.types = types
        self.text = " or ".join(one.text for one in types)

    def accepts(self, value: Any) -> bool:
        """Whether one of the types takes this."""
        return any(one.accepts(value) for one in self.types)


class SequenceOf(AttributeType):
    """A tuple or list of values of one type."""

    def __init__(self, item: AttributeType, most: int = MAX_SIZE) -> None:
        """Of at most `most` items."""
        self.item, self.most = item, most
        self.text = f"a list whose items are each {item.text}"

    def accepts(self, value: Any) -> bool:
        """Whether this is a tuple or list of such items."""
        if not isinstance(value, (tuple, list)) or len(value) > self.most:
            return False
        return all(self.item.accepts(one) for one in value)


class TupleOf(AttributeType):
    """A tuple with a type for each item."""

    def __init__(self, *items: AttributeType) -> None:
        """As many items as types."""
        self.items = items
        self.text = f"a tuple of ({'; '.join(one.text for one in items)})"

    def accepts(self, value: Any) -> bool:
        """Whether this is a tuple of such items."""
        if not isinstance(value, (tuple, list)) or len(value) != len(self.items):
            return False
        return all(kind.accepts(one) for kind, one in zip(self.items, value, strict=True))


class DictOf(AttributeType):
    """A dict with string keys and values of one type."""

    def __init__(self, value: AttributeType, keys: tuple[str, ...] | None = None) -> None:
        """With these `keys` at most, or any names."""
        self.value, self.keys = value, keys
        names = "names" if keys is None else ", ".join(keys)
        self.text = f"a dict from {names} to values that are each {value.text}"

    def accepts(self, value: Any) -> bool:
        """Whether this is a dict with such keys and values."""
        if not isinstance(value, dict):
            return False
        known = all(isinstance(k, str) and len(k) <= MAX_NAME for k in value)
        named = known and (self.keys is None or all(k in self.keys for k in value))
        return named and all(self.value.accepts(one) for one in value.values())


class ShapeOf(SequenceOf):
    """A shape: sizes whose product is limited, too."""

    def __init__(self) -> None:
        """At most MAX_SIZE elements."""
        super().__init__(Integer(0, MAX_SIZE), MAX_RANK)
        self.text = f"a shape of at most {MAX_RANK} axes and {MAX_SIZE} elements"

    def accepts(self, value: Any) -> bool:
        """Whether these are sizes, and their product is small enough."""
        if not super().accepts(value):
            return False
        return has_product_below(value, MAX_SIZE)


def has_product_below(sizes: Any, most: int) -> bool:
    """Whether a product of sizes is at most `most`."""
    total: Any = 1
    for size in sizes:
        total = total * (size if type(size) is Dim else int(size))
    return lies_between(total, 0, most) if type(total) is Dim else total <= most


class Index(AttributeType):
    """A static index: integers, slices, None and Ellipsis."""

    text = "a tuple of integers, slices, null and ellipsis"

    def accepts(self, value: Any) -> bool:
        """Whether this is a tuple of entries of an index."""
        if not isinstance(value, tuple) or len(value) > 2 * MAX_RANK:
            return False
        return all(self.accepts_entry(one) for one in value)

    def accepts_entry(self, entry: Any) -> bool:
        """Whether this is an entry of an index."""
        if isinstance(entry, slice):
            parts = (entry.start, entry.stop, entry.step)
            has_step = type(entry.step) is Dim or entry.step != 0
            return all(one is None or INTEGER.accepts(one) for one in parts) and has_step
        return entry is None or entry is Ellipsis or INTEGER.accepts(entry)


class Array(AttributeType):
    """A tensor that the node computes with: an input, a constant array or a number."""

    text = "an input of the node, an array or a number"

    def accepts(self, value: Any) -> bool:
        """Whether this is an input, an array or a number."""
        if isinstance(value, (TensorSlot, np.ndarray, np.generic, Dim)):
            return True
        return isinstance(value, (bool, int, float, complex))


class AsTensor(AttributeType):
    """A value that converts to a tensor: as `Array`, a string, or nested lists of these."""

    text = "a value that converts to a tensor"

    def accepts(self, value: Any) -> bool:
        """Whether this converts to a tensor."""
        if isinstance(value, (tuple, list)):
            return all(self.accepts(one) for one in value)
        return isinstance(value, (str, bytes)) or ARRAY.accepts(value)


class Printable(AttributeType):
    """A value that `tf.print` shows: as `AsTensor`, None, or nested dicts of these."""

    text = "values to print"

    def accepts(self, value: Any) -> bool:
        """Whether this can be printed."""
        if isinstance(value, (tuple, list)):
            return all(self.accepts(one) for one in value)
        if isinstance(value, dict):
            return all(self.accepts(one) for one in (*value, *value.values()))
        return value is None or TENSOR_LIKE.accepts(value) or DTYPE.accepts(value)


class Record(AttributeType):
    """A named tuple of a class in `RECORDS`."""

    def __init__(self, kind: type, /, **fields: AttributeType) -> None:
        """Of this class, with a type for each field."""
        self.kind, self.fields = kind, fields
        self.text = f"a {kind.__name__}"

    def accepts(self, value: Any) -> bool:
        """Whether this is of the class, and its fields of their types."""
        if type(value) is not self.kind:
            return False
        pairs = zip(self.fields.values(), value, strict=True)  # type: ignore[call-overload]
        return all(kind.accepts(one) for kind, one in pairs)


class InstanceOf(AttributeType):
    """An object of a class of the graph, such as the body of a loop."""

    def __init__(self, kind: type, text: str) -> None:
        """Of this class."""
        self.kind, self.text = kind, text

    def accepts(self, value: Any) -> bool:
        """Whether this is of the class."""
        return isinstance(value, self.kind)


ARRAY = Array()
TENSOR_LIKE = AsTensor()
DTYPE = Dtype()
FLAG = Flag()
INTEGER = Integer()
NUMBER = Number()
LABEL = Text(MAX_NAME)
TEXT = Text()
SIZE = Integer(0, MAX_SIZE)
POSITIVE = Integer(1, MAX_SIZE)
OFFSET = Integer(-MAX_SIZE, MAX_SIZE)
AXIS = Integer(-MAX_RANK, MAX_RANK - 1)
RANK = Integer(0, MAX_RANK)
AXES = SequenceOf(AXIS, MAX_RANK)
SHAPE = ShapeOf()
INDEX = Index()
