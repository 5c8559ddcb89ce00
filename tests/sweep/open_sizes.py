"""Checks that shape rules give the kernel's shapes and dtypes, with sizes known and unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.dims import UnknownSizeError
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.core.size_context import SizeContext
from gradtape.core.size_function import evaluate
from tests.sweep.pullback import as_tuple, copy_raw
from tests.sweep.sample import Sample
from tests.sweep.variant import cast_sample

# Primitives whose number of outputs or axes is a size, so that they need it as a number
NEED_NUMBERS = {
    "unstack": "the number of outputs is a size",
    "gather_nd": "the last size of the indices is a number of axes",
    "scatter_nd": "the last size of the indices is a number of axes",
}
# Primitives with a result whose size only the data determines
FIND_SIZES = {"where_true", "suppress_boxes", "suppress_overlaps"}
# Static parameters that hold sizes or positions
SIZE_STATICS = {
    *("band", "count", "depth", "k", "key", "length", "most", "paddings", "samples", "shape"),
    *("size", "sizes", "spatial", "window"),
}


def shape(op: Primitive, sample: Sample) -> None:
    """The shape rule agrees with the kernel: all sizes known, each one unknown, all unknown."""
    finds = op.name in FIND_SIZES
    for name in sample.dtypes:
        other = cast_sample(sample, name)
        if other is not None:
            check_shape_rule(op, other, set(), True, finds)
    specs = [Spec((np.shape(a), np.asarray(a).dtype)) for a in sample.args]
    axes = [(i, k) for i, spec in enumerate(specs) for k in range(len(spec.shape))]
    statics = [(name, 0) for name in SIZE_STATICS & sample.static.keys()]
    for unknown in [set(), *({axis} for axis in axes), {*axes}, {*statics}, {*axes, *statics}]:
        for with_hints in (True, False):
            check_shape_rule(op, sample, unknown, with_hints, finds)


def check_shape_rule(
    op: Primitive,
    sample: Sample,
    unknown: set[Any],
    with_hints: bool,
    finds_sizes: bool = False,
) -> None:
    """Check the rule where some axes, as (argument, axis), and some statics are unknown.

    Sizes that contradict the assumptions of the rule do not count.
    """
    context = SizeContext(with_hints)
    env: dict[Any, int] = {}

    def make_unknown(size: int) -> Any:
        dim = context.make_unknown(hint=size)
        env[context.unknowns[-1]] = size
        return dim

    specs = tuple(
        Spec(
            (
                tuple(
                    make_unknown(n) if (i, k) in unknown else n for k, n in enumerate(np.shape(a))
                ),
                np.asarray(a).dtype,
            )
        )
        for i, a in enumerate(sample.args)
    )
    static = {
        name: open_numbers(value, make_unknown) if (name, 0) in unknown else value
        for name, value in sample.static.items()
    }
    try:
        got = infer_specs(op, specs, static)
    except UnknownSizeError:
        assert not with_hints, "a size with a hint is unknown"
        assert op.name in NEED_NUMBERS, "the rule asks for the number of an unknown size"
        return
    if with_hints:
        pinned = [a for a in context.assumptions.values() if a.kind == "==" and a.answer]
        assert not pinned or op.name in NEED_NUMBERS, f"the rule assumes {pinned}"
    if with_hints or context.holds(env):
        wanted = as_tuple(op, op.kernel(*map(copy_raw, sample.args), **sample.static))
        check_specs(got, wanted, env, finds_sizes)


def open_numbers(value: Any, make_unknown: Callable[[int], Any]) -> Any:
    """A static value with unknowns in place of its numbers that are not negative."""
    if type(value) is int:
        return make_unknown(value) if value >= 0 else value
    if isinstance(value, tuple):
        parts = [open_numbers(part, make_unknown) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if type(value) is slice:
        return slice(open_numbers(value.start, make_unknown), value.stop, value.step)
    return value


def check_specs(got: list[Spec], wanted: tuple[Any, ...], env: Any, finds_sizes: bool) -> None:
    """Assert that specs are those of the wanted arrays; `FRESH` is any size."""
    assert len(got) == len(wanted), f"{len(got)} outputs instead of {len(wanted)}"
    for spec, value in zip(got, wanted, strict=True):
        assert type(spec) is Spec
        assert spec.dtype == value.dtype, f"dtype {spec.dtype} instead of {value.dtype}"
        assert len(spec.shape) == value.ndim, f"shape {spec.shape} instead of {value.shape}"
        for size, n in zip(spec.shape, value.shape, strict=True):
            assert finds_sizes if size is FRESH else evaluate(size, env) == n, (
                f"shape {spec.shape} instead of {value.shape}"
            )
