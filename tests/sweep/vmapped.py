"""The property of `vmap`: a primitive on a batch gives what a loop over its examples gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from gradtape.core.context import use_recorders
from gradtape.core.convert import convert
from gradtape.core.dispatch import TapeRecord
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import make_tensor
from gradtape.func.batch_stage import BatchStage
from gradtape.tape.gradient_tape import GradientTape
from tests.sweep.forms import masks_of
from tests.sweep.pullback import Arrays, as_tuple, inputs_with_rules, is_float
from tests.sweep.sample import Sample

EXAMPLES = 3


def vmapped(op: Primitive, sample: Sample) -> None:
    """Values and gradients equal a loop's, with each set of batched inputs, also under a tape."""
    batches = choose_examples(op, sample)
    for mask in masks_of(list(range(len(sample.args)))):
        flags = [bool(mask >> i & 1) for i in range(len(sample.args))]
        rows = [
            replace(
                sample, args=tuple(b[k] if f else b[0] for b, f in zip(batches, flags, strict=True))
            )
            for k in range(EXAMPLES)
        ]
        want = [run_example(op, row) for row in rows]
        if len({tuple(np.shape(v) for v in one) for one in want}) > 1:
            continue  # a dynamic op: shapes differ between the examples
        for recorded in (False, True) if all(flags) else (False,):
            got = run_batch(op, sample, batches, flags, recorded)
            for k, values in enumerate(want):
                for a, b in zip(got, values, strict=True):
                    compare(a[k], b)


def choose_examples(op: Primitive, sample: Sample) -> list[list[Any]]:
    """Examples of each argument that the kernel accepts."""
    batches = [make_examples(a, True) for a in sample.args]
    try:
        for k in range(EXAMPLES):
            op.kernel(*(batch[k] for batch in batches), **sample.static)
    except (InvalidArgumentError, ValueError):
        return [make_examples(a, False) for a in sample.args]
    return batches


def make_examples(arg: Any, roll: bool) -> list[Any]:
    """Variants of an argument that keep its domain: scaled floats, rolled integers."""
    arg = np.asarray(arg)
    if is_float(arg):
        return [arg, *((arg * (1 - 0.03 * k)).astype(arg.dtype) for k in (1, 2))]
    return [np.roll(arg, k * roll) for k in range(EXAMPLES)]


def as_raw(arg: Any) -> Any:
    """A copy as kernels take it: a NumPy scalar has no axes, unless it is a string."""
    arg = np.array(arg)
    return arg if arg.dtype == object else arg[()]


def run_example(op: Primitive, sample: Sample) -> Arrays:
    """Outputs, and gradients of their sum, at one example."""
    tensors = tuple(make_tensor(as_raw(a)) for a in sample.args)
    return tuple(np.asarray(t._array) for t in compute(op, sample, tensors))


def compute(op: Primitive, sample: Sample, tensors: Arrays) -> Arrays:
    """Outputs, and gradients of the float ones, weighted by position."""
    tensors = sample.recompute_bound(tensors)
    sources = [tensors[i] for i in inputs_with_rules(op, sample)]
    with GradientTape() as tape:
        tape.watch(sources)
        outs = as_tuple(op, op.function(*tensors, **sample.static))
    targets = [out for out in outs if is_float(np.empty(0, out._array.dtype))]
    if "first_order" in sample.skip or not sources or not targets:
        return outs
    grads = tape.gradient(targets, sources, unconnected_gradients="zero")
    return (*outs, *map(convert, grads))


def run_batch(
    op: Primitive, sample: Sample, batches: list[Any], flags: list[bool], recorded: bool
) -> Arrays:
    """Outputs and gradients of all examples at once, under an outer recorder if `recorded`."""
    held = [
        make_tensor(np.stack(b)) if f else make_tensor(as_raw(b[0]))
        for b, f in zip(batches, flags, strict=True)
    ]
    outer = TapeRecord()
    for tensor in held:
        outer.watch(tensor.uid)
    with use_recorders((outer,) if recorded else ()):
        stage = BatchStage(EXAMPLES)
        tensors = tuple(stage.hold(t) if f else t for t, f in zip(held, flags, strict=True))
        found = stage.run(compute, op, sample, tensors)
        return tuple(np.asarray(stage.release(t)._array) for t in found)


def compare(got: Any, want: Any) -> None:
    """Assert equal values, dtypes and shapes."""
    got, want = np.asarray(got, want.dtype if want.dtype == object else None), np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype == object or not is_float(want):
        np.testing.assert_array_equal(got, want)
    else:
        assert_allclose(got, want, rtol=1e-9, atol=1e-11)
