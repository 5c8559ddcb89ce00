"""The table of raw ops: how its rows are read and become functions.

A row has three parts: the parameters with their types in the order of TensorFlow's op registry, the
results with their types, and the Python expression that computes them here:

    Sum(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
        where T: number; Tidx: index=int32
        is tf.reduce_sum(input, axis, keep_dims)

A type is a dtype, an attribute that holds one (`T`), a list of either (`N*T`), or the type of an
attribute of the op (`int`, `list(int)`, `string` …). `where` lists the attributes that TensorFlow
infers from the inputs, with the dtypes that they admit and a default. In the expression `tf` is
gradtape and `raw` are the modules of this folder.
"""

from __future__ import annotations

import inspect
import re
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.generated_code import execute_source

SUBJECTS = (
    *("arithmetic", "array", "image", "linalg", "nn", "pointwise", "quantization"),
    *("random", "reduction", "sparse", "strings"),
)
ROW = re.compile(r"(\w+)\((.*?)\) -> (.*?)(?: where (.*?))? is (.*)")


class Parameter(NamedTuple):
    """A parameter of a raw op: an input or an attribute."""

    name: str
    type: str
    default: str | None
    """The default as Python source; None if the parameter has none."""


class RawOp(NamedTuple):
    """A row of the table."""

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[tuple[str, str], ...]
    """Pairs of name and type."""
    inferred: str
    """The attributes that follow from the inputs, with their dtypes and defaults."""
    expression: str


@cache
def read_rows() -> dict[str, RawOp]:
    """All rows, by the name of the op."""
    ops = {}
    for subject in SUBJECTS:
        text = import_module(f"gradtape.tf.raw_ops.table.{subject}").ROWS
        for row in text.strip().split("\n\n"):
            op = parse_row(" ".join(row.split()))
            ops[op.name] = op
    return ops


def parse_row(text: str) -> RawOp:
    """Parse a row that was joined to one line."""
    match = ROW.fullmatch(text)
    assert match, f"not a row of the table of raw ops: {text}"
    name, inside, results, inferred, expression = match.groups()
    parameters = tuple(parse_parameter(part) for part in split_outside(inside))
    pairs = [part.split(": ") for part in split_outside(results) if part != "nothing"]
    return RawOp(name, parameters, tuple((a, b) for a, b in pairs), inferred or "", expression)


def split_outside(text: str) -> list[str]:
    """Split at commas that are not inside brackets or quotes."""
    return [part for part in re.split(r", (?![^\[(]*[\])])", text) if part]


def parse_parameter(text: str) -> Parameter:
    """Parse `name: type` or `name: type=default`."""
    name, rest = text.split(": ", 1)
    kind, _, default = rest.partition("=")
    return Parameter(name, kind, default or None)


class RawModules:
    """The modules of this folder as attributes, imported on first use."""

    def __getattr__(self, name: str) -> Any:
        return import_module(f"gradtape.tf.raw_ops.{name}")


def make_raw_op(op: RawOp) -> Callable[..., Any]:
    """The public function of a row; it takes keywords only."""
    parts = [p.name if p.default is None else f"{p.name}={p.default}" for p in op.parameters]
    source = f"def {op.name}(*, {', '.join([*parts, 'name=None'])}): return {op.expression}"
    scope: dict[str, Any] = {
        "tf": import_module("gradtape"),
        "raw": RawModules(),
        **{dtype.name: dtype for dtype in dtypes.DTYPES if dtype.name != "bool"},
    }
    execute_source(f"raw op {op.name}", source, scope)
    compute = scope[op.name]
    pack = make_packer(op)
    names = [*(p.name for p in op.parameters), "name"]

    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{op.name} only takes keyword args (possible keys: {names}). Please pass these "
                "args as kwargs instead."
            )
        return pack(compute(**kwargs))

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = f"TensorFlow's op `{op.name}`: {op.expression}."
    call.__module__ = "gradtape.tf.api.raw_ops"
    call.__signature__ = inspect.signature(compute)  # type: ignore[attr-defined]
    return public(call)


def make_packer(op: RawOp) -> Callable[[Any], Any]:
    """How results are returned: as they are, or several as a named tuple, as in TensorFlow."""
    names = [name for name, _ in op.results]
    if not names:
        return lambda _: None
    if len(names) == 1:
        return list if "*" in op.results[0][1] else lambda result: result
    record = namedtuple(op.name, names, rename=True)  # type: ignore[misc]
    return lambda results: record(*results)
