"""Python values from the tree in a file.

A dict with one key that starts with `$`, a tag, stands for a value that JSON lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, ClassVar

import numpy as np

from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.tf.saved_model.attribute_type import OPEN_INTEGER, OPEN_NUMBER, SHAPE, Open
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_INTEGER, MAX_RANK, MAX_SIZE, MAX_TEXT
from gradtape.tf.saved_model.op_table.registry import RECORDS
from gradtape.tf.saved_model.size_fit import same_padding
from gradtape.tf.saved_model.tree_check import (
    expect_bool,
    expect_choice,
    expect_dtype,
    expect_int,
    expect_list,
    expect_number,
    expect_text,
)

SPECIAL_FLOATS = ("nan", "inf", "-inf")


class ValueDecoder:
    """Decodes values. `GraphDecoder` adds those that depend on sizes, and graphs.

    Attributes:
        tags: for each tag, the method that decodes it.
    """

    tags: ClassVar[dict[str, str]] = {
        "$list": "decode_list",
        "$tuple": "decode_tuple",
        "$dict": "decode_dict",
        "$bytes": "decode_bytes",
        "$float": "decode_float",
        "$complex": "decode_complex",
        "$slice": "decode_slice",
        "$ellipsis": "decode_ellipsis",
        "$dtype": "decode_dtype",
        "$shape": "decode_shape",
        "$spec": "decode_spec",
        "$record": "decode_record",
        "$size": "decode_size",
        "$ratio": "decode_ratio",
        "$filled": "decode_filled",
        "$elements": "decode_elements",
        "$ramp": "decode_ramp",
        "$triangle": "decode_triangle",
        "$padding": "decode_padding",
    }

    def decode(self, tree: Any) -> Any:
        """The value of an attribute."""
        if isinstance(tree, np.ndarray):
            return tree if tree.shape or tree.dtype == object else tree[()]
        if isinstance(tree, list):
            raise MalformedModel(f"a list is not a value. Received {shorten(tree)}")
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1:
            raise MalformedModel(f"a value has one tag. Received {shorten(list(tree))}")
        ((tag, inner),) = tree.items()
        method = self.tags.get(tag)
        if method is None:
            raise MalformedModel(f"there is no type {shorten(tag)}")
        return getattr(self, method)(inner)

    def decode_int(self, tree: Any, low: int, high: int) -> Any:
        """An integer, which may depend on sizes."""
        value = self.decode(tree)
        return value if isinstance(value, Open) else expect_int(value, low, high)

    def decode_list(self, inner: Any) -> list[Any]:
        """A list."""
        return [self.decode(one) for one in expect_list(inner)]

    def decode_tuple(self, inner: Any) -> tuple[Any, ...]:
        """A tuple."""
        return tuple([self.decode(one) for one in expect_list(inner)])

    def decode_dict(self, inner: Any) -> dict[Any, Any]:
        """A dict, in the file a list of pairs."""
        made = {}
        for pair in expect_list(inner):
            key, value = (self.decode(one) for one in expect_list(pair, 2))
            if not isinstance(key, (str, bytes, bool, int, float, type(None))):
                raise MalformedModel(f"a key is a string or number. Received {shorten(key)}")
            made[key] = value
        return made

    def decode_bytes(self, inner: Any) -> bytes:
        """A byte string, in the file one character for each byte."""
        try:
            return expect_text(inner, MAX_TEXT).encode("latin-1")
        except UnicodeEncodeError:
            raise MalformedModel(
                f"bytes are characters up to 255. Received {shorten(inner)}"
            ) from None

    def decode_float(self, inner: Any) -> float:
        """A float that JSON lacks."""
        return float(expect_choice(inner, SPECIAL_FLOATS, "float"))

    def decode_complex(self, inner: Any) -> complex:
        """A complex number."""
        parts = [self.decode(part) for part in expect_list(inner, 2)]
        if not all(type(part) in (int, float) for part in parts):
            raise MalformedModel(f"a complex number has two floats. Received {shorten(inner)}")
        return complex(*parts)

    def decode_slice(self, inner: Any) -> slice:
        """A slice."""
        parts = expect_list(inner, 3)
        high = MAX_INTEGER
        return slice(*[None if p is None else self.decode_int(p, -high, high) for p in parts])

    def decode_ellipsis(self, inner: Any) -> Any:
        """The object `...`."""
        expect_list(inner, 0)
        return ...

    def decode_dtype(self, inner: Any) -> Any:
        """A dtype of TensorFlow's, or of NumPy's."""
        name, is_tensorflow = expect_list(inner, 2)
        dtype = expect_dtype(name)
        return dtype if expect_bool(is_tensorflow) else np.dtype(dtype.as_numpy_dtype)

    def decode_shape(self, inner: Any) -> TensorShape:
        """A TensorShape."""
        if inner is None:
            return TensorShape(None)
        sizes = [None if n is None else self.decode_int(n, 0, MAX_SIZE) for n in expect_list(inner)]
        return TensorShape([None if isinstance(n, Open) else n for n in sizes])

    def decode_spec(self, inner: Any) -> TensorSpec:
        """A TensorSpec."""
        shape, dtype, name = expect_list(inner, 3)
        return TensorSpec(
            self.decode_shape(shape),
            expect_dtype(dtype),
            None if name is None else expect_text(name),
        )

    def decode_record(self, inner: Any) -> Any:
        """A named tuple."""
        name, fields = expect_list(inner, 2)
        record = RECORDS[expect_choice(name, RECORDS, "record")]
        values = [self.decode(one) for one in expect_list(fields, len(record.fields))]
        return record.kind(*values)

    # -- values that depend on the sizes of a call

    def count(self, number: int, axis: int | None) -> Any:
        """The size of a value along an axis; without an axis, the integer that it is."""
        raise MalformedModel("a value outside of a graph cannot depend on sizes")

    def build_array(self, build: Callable[[], Any]) -> Any:
        """An array that depends on sizes; `build` makes it."""
        raise MalformedModel("a value outside of a graph cannot depend on sizes")

    def multiply_sizes(self, atoms: Any) -> Any:
        """The product of sizes, each the number of a value and an axis."""
        counts = []
        for atom in expect_list(atoms):
            number, axis = expect_list(atom, 2)
            axis = None if axis is None else expect_int(axis, 0, MAX_RANK)
            counts.append(self.count(expect_number(number), axis))
        return OPEN_INTEGER if OPEN_INTEGER in counts else prod(counts)

    def decode_size(self, inner: Any) -> Any:
        """An integer: a factor times sizes, plus an offset."""
        factor, atoms, plus = expect_list(inner, 3)
        high = MAX_INTEGER
        factor, plus = expect_int(factor, -high, high), expect_int(plus, -high, high)
        total = self.multiply_sizes(atoms)
        return total if isinstance(total, Open) else factor * total + plus

    def decode_ratio(self, inner: Any) -> Any:
        """A float: a factor times a product of sizes, or divided by it."""
        factor, atoms, power = expect_list(inner, 3)
        if type(factor) not in (int, float):
            raise MalformedModel(f"a factor is a number. Received {shorten(factor)}")
        expect_int(power, -1, 1)
        total = self.multiply_sizes(atoms)
        if isinstance(total, Open):
            return OPEN_NUMBER
        return float(factor * float(total) ** power) if total or power > 0 else float("inf")

    def decode_sizes(self, tree: Any) -> list[int]:
        """The shape of an array."""
        sizes = [self.decode_int(size, 0, MAX_SIZE) for size in expect_list(tree)]
        SHAPE.check(sizes)
        return sizes

    def decode_scalar(self, tree: Any) -> Any:
        """An element of an array: a number or a byte string."""
        value = self.decode(tree)
        if not isinstance(value, (bool, int, float, complex, bytes, Open)):
            raise MalformedModel(f"an element is a number or bytes. Received {shorten(value)}")
        return value

    def decode_filled(self, inner: Any) -> Any:
        """An array of one value."""
        sizes, value, name = expect_list(inner, 3)
        dtype = expect_dtype(name).as_numpy_dtype
        shape, fill = self.decode_sizes(sizes), self.decode_scalar(value)
        return self.build_array(lambda: np.full(shape, fill, dtype)[()])

    def decode_elements(self, inner: Any) -> Any:
        """An array of a few numbers."""
        sizes, elements, name = expect_list(inner, 3)
        dtype = expect_dtype(name).as_numpy_dtype
        flat = [self.decode_scalar(one) for one in expect_list(elements)]
        shape = self.decode_sizes(sizes)
        return self.build_array(lambda: np.array(flat, dtype).reshape(shape))

    def decode_ramp(self, inner: Any) -> Any:
        """An array that counts: its length, its first element and its step."""
        count, start, step, name = expect_list(inner, 4)
        dtype = np.dtype(expect_dtype(name).as_numpy_dtype)
        (size,) = self.decode_sizes([count])
        first, each = self.decode_scalar(start), self.decode_scalar(step)
        return self.build_array(
            lambda: (first + np.arange(size).astype(dtype) * dtype.type(each)).astype(dtype)
        )

    def decode_triangle(self, inner: Any) -> Any:
        """A matrix with one value from a diagonal on downwards, and another above it."""
        sizes, diagonal, lower, upper, name = expect_list(inner, 5)
        shape, dtype = self.decode_sizes(sizes), expect_dtype(name).as_numpy_dtype
        first, low, high = (self.decode_scalar(one) for one in (diagonal, lower, upper))
        if len(shape) < 2:
            raise MalformedModel(f"a triangle has at least two axes. Received {shape}")

        def build() -> Any:
            below = np.subtract.outer(np.arange(shape[-2]), np.arange(shape[-1]))
            return np.broadcast_to(np.where(below >= first, low, high).astype(dtype), shape)

        return self.build_array(build)

    def decode_padding(self, inner: Any) -> tuple[Any, Any]:
        """The padding SAME of an axis."""
        atom, stride, reach = expect_list(inner, 3)
        stride, reach = expect_int(stride, 1, MAX_SIZE), expect_int(reach, 1, MAX_SIZE)
        size = self.multiply_sizes([atom])
        return (size, size) if isinstance(size, Open) else same_padding(size, stride, reach)
