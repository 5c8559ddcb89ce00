"""Checks that raw calls, `bind` and the generated functions of a primitive agree."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from gradtape.core.context import use_recorders
from gradtape.core.dispatch import TapeRecord, bind
from gradtape.core.fastpath.codegen import make_public_function
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, make_tensor, unwrap
from tests.sweep.draw import same
from tests.sweep.pullback import Arrays, as_tuple, copy_read_only, inputs_with_rules, tensors_of
from tests.sweep.sample import Sample
from tests.sweep.variant import cast_sample


def kernel(op: Primitive, sample: Sample) -> None:
    """Raw arrays, tensors and mixtures give the same outputs, and inputs are not modified."""
    args = tuple(copy_read_only(a) for a in sample.args)
    want = as_tuple(op, op.kernel(*args, **sample.static))
    masks = {0, (1 << len(args)) - 1, *(1 << i for i in range(len(args)))}
    for mask in masks:
        mixed = [make_tensor(a) if mask >> i & 1 else a for i, a in enumerate(args)]
        outs = as_tuple(op, op.function(*mixed, **sample.static))
        for out, value in zip(outs, want, strict=True):
            assert isinstance(out, Tensor) == (mask != 0)
            assert unwrap(out).dtype == value.dtype
            assert_array_equal(unwrap(out), value)


def new_arrays(op: Primitive, sample: Sample) -> None:
    """Results of an op that declares `new_arrays` share no memory with its inputs."""
    if op.new_arrays:
        outs = as_tuple(op, op.kernel(*sample.args, **sample.static))
        shared = [np.shares_memory(out, a) for out in outs for a in sample.args]
        assert not any(shared)


def dispatch(op: Primitive, sample: Sample) -> None:
    """The generated functions record the same as `bind`, for every set of watched inputs."""
    if op.outputs:
        return  # ops with several outputs always use `bind`
    for name in sample.dtypes if inputs_with_rules(op, sample) else ():
        some = cast_sample(sample, name)
        if some is None:
            continue
        for mask in masks_of(inputs_with_rules(op, some)):
            tensors = tensors_of(some.args)
            want = record_entry(lambda *a: bind(op, a, sample.static), tensors, mask)
            for form in forms(op, some):
                entries_equal(record_entry(form, tensors, mask), want)


def forms(op: Primitive, sample: Sample) -> Iterator[Callable[..., Any]]:
    """The generated functions that accept the sample's arguments."""
    yield lambda *a: op.function(*a, **sample.static)
    dtypes = frozenset(np.asarray(a).dtype for a in sample.args)
    if is_public(op) and len(dtypes) == 1:
        yield public_form(op, dtypes)
        if len(op.inputs) == 2:
            yield lambda x, y: public_form(op, dtypes, reflected=True)(y, x)


@functools.cache
def public_form(op: Primitive, dtypes: frozenset[Any], reflected: bool = False) -> Any:
    """The public function of a primitive, restricted to these dtypes."""
    return make_public_function(op, dtypes, refuse, reflected=reflected)


def is_public(op: Primitive) -> bool:
    """Whether `make_public_function` can generate a public function for the op."""
    return op.core_ndim == 0 and len(op.inputs) <= 2 and not op.statics


def refuse(*args: Any) -> Any:
    """Fail: the fallback of a generated function must not run."""
    raise AssertionError(f"the generated function falls back for {args}")


def record_entry(form: Callable[..., Any], args: Arrays, mask: int) -> tuple[Any, ...]:
    """Run `form` with the inputs in `mask` watched; return the output and the recorded entry."""
    known = TapeRecord()
    for i, t in enumerate(args):
        if mask >> i & 1:
            known.watch(t.uid)
    with use_recorders((known,)):
        out = form(*args)
    assert set(known) == {*known.roots, out.uid}
    entry: tuple[Any, ...] = known[out.uid]
    return (out, *entry)


def entries_equal(got: Any, want: Any) -> None:
    """Assert equal entries: step, uids and residuals; output tensors are compared by value."""
    assert type(got) is type(want)
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            entries_equal(a, b)
    elif isinstance(want, Tensor):
        assert got._array.dtype == want._array.dtype
        same(got._array, want._array, "kept tensors")
    elif isinstance(want, np.ndarray):
        assert_array_equal(got, want)
    else:
        assert got == want


def masks_of(inputs: list[int]) -> list[int]:
    """Masks of inputs to watch: all subsets of up to three inputs, else single inputs and all."""
    if len(inputs) <= 3:
        sets = itertools.chain.from_iterable(itertools.combinations(inputs, n) for n in (1, 2, 3))
    else:
        sets = iter([*((i,) for i in inputs), tuple(inputs)])
    return [sum(1 << i for i in some) for some in sets]
