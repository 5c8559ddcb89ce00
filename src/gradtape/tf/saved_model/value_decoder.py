"""Python values from the tree in a file.

A dict with one key that starts with `$`, a tag, stands for a value that JSON lacks.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradtape.core.dims import Dim
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.tf.saved_model.failure import MalformedModel, shorten
from gradtape.tf.saved_model.limit import MAX_INTEGER, MAX_SIZE, MAX_TEXT
from gradtape.tf.saved_model.op_table.registry import RECORDS
from gradtape.tf.saved_model.tree_check import (
    expect_bool,
    expect_choice,
    expect_dtype,
    expect_int,
    expect_list,
    expect_text,
)

SPECIAL_FLOATS = ("nan", "inf", "-inf")


class ValueDecoder:
    """Decodes values. `GraphDecoder` adds symbolic sizes, and graphs.

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
        """An integer, which may be a symbolic size."""
        value = self.decode(tree)
        return value if type(value) is Dim else expect_int(value, low, high)

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
        return TensorShape([None if type(n) is Dim else n for n in sizes])

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
