"""The properties of rules: each check takes a primitive and its samples, and raises on failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from gradtape.core.primitive import Primitive
from gradtape.core.tensor import Tensor, make_tensor, unwrap
from gradtape.tape.forward_accumulator import ForwardAccumulator
from tests.sweep.draw import (
    cotangents,
    direction,
    move_args,
    pair,
    pick_lead,
    random_like,
    same,
    shift_cotangents,
    to_double,
    zip_present,
)
from tests.sweep.forms import dispatch, kernel, new_arrays
from tests.sweep.open_sizes import shape
from tests.sweep.pullback import (
    Arrays,
    Case,
    as_tuple,
    call,
    copy_raw,
    copy_read_only,
    inputs_with_rules,
    is_float,
    tensors_of,
)
from tests.sweep.sample import Sample
from tests.sweep.variant import (
    broadcast_variants,
    cast_sample,
    empty_variants,
    is_empty,
    needs_empty,
    scalar_variants,
)
from tests.sweep.vmapped import vmapped

STEP = 6e-6  # about the cube root of float64's eps, where truncation and rounding errors balance

Leads = Sequence[tuple[int, ...]]
Property = Callable[[Primitive, list[Sample]], None]


# -- checks of one rule at one sample


def first_order(case: Case) -> None:
    """⟨v, vjp(u)⟩ equals ⟨u, central difference along v⟩."""
    rng = np.random.default_rng(1)
    v = direction(rng, case.sample, case.wrt)
    before, after = (
        call(case.op, move_args(case.sample, {case.wrt: v}, h), case.sample.static)
        for h in (-STEP, STEP)
    )
    for us in cotangents(rng, case):
        t = case.pull(us)
        assert np.shape(t) == np.shape(case.x), f"shape {np.shape(t)} for {np.shape(case.x)}"
        want = sum(pair(u, (b - a) / (2 * STEP)) for u, a, b in zip_present(us, before, after))
        assert_allclose(pair(v, t), want, rtol=1e-6, atol=1e-7)


def second_order(case: Case) -> None:
    """The vjp's own derivative, by an outer recorder, agrees with central differences."""
    rng = np.random.default_rng(2)
    vs = {i: direction(rng, case.sample, i) for i in inputs_with_rules(case.op, case.sample)}
    w = random_like(rng, case.x)
    for us in cotangents(rng, case):
        dus = [None if u is None else random_like(rng, u) for u in us]
        before, after = (
            unwrap(
                case.pull(tensors_of(shift_cotangents(us, dus, h)), move_args(case.sample, vs, h))
            )
            for h in (-STEP, STEP)
        )
        by_args, by_us = case.pull_twice(us, w)
        got = sum(pair(v, t) for t, v in zip_present(by_args, vs.values()))
        got += sum(pair(du, t) for t, du in zip_present(by_us, dus))
        assert_allclose(got, pair(w, (after - before) / (2 * STEP)), rtol=1e-6, atol=1e-7)


def batched(case: Case, leads: Leads = ((3,), (2, 3), (0,))) -> None:
    """Lead axes give the same as a loop over them: raw, recorded, and at second order."""
    rng = np.random.default_rng(3)
    for lead in leads:
        for us in cotangents(rng, case, lead):
            batched_once(case, lead, us)
    batched_twice(case, rng)


def batched_once(case: Case, lead: tuple[int, ...], us: Arrays) -> None:
    """Check the first order, raw and recorded."""
    for pull in (case.pull, case.pull_recorded):
        together = pull(us)
        shape = np.shape(together)
        assert shape == lead + np.shape(case.x), f"shape {shape} with lead {lead}"
        for i in np.ndindex(lead):
            same(together[i], pull(pick_lead(us, i)), f"lead {lead} at {i}")


def batched_twice(case: Case, rng: np.random.Generator) -> None:
    """Check the gradients of a batched vjp."""
    us = next(cotangents(rng, case, (2,)))
    ws = random_like(rng, np.zeros((2, *np.shape(case.x)), np.asarray(case.x).dtype))
    by_args, by_us = case.pull_twice(us, ws)
    (args, seeds), (more_args, more_seeds) = (
        case.pull_twice(pick_lead(us, i), ws[i]) for i in (0, 1)
    )
    for t, a, b in zip_present(by_args, args, more_args):
        same(t, a + b, "second order, by an input")
    for t, a, b in zip_present(by_us, seeds, more_seeds):
        same(t, np.stack([a, b]), "second order, by g")


def linear(case: Case) -> None:
    """The rule is linear in `g`, over many orders of magnitude."""
    rng = np.random.default_rng(5)
    for a, b in zip(list(cotangents(rng, case)), list(cotangents(rng, case)), strict=True):
        want = 5000 * case.pull(a) - case.pull(b) / 3000
        mixed = tuple(None if u is None else 5000 * u - v / 3000 for u, v in zip(a, b, strict=True))
        assert_allclose(case.pull(mixed), want, rtol=1e-9, atol=1e-9)
        nothing = tuple(None if u is None else np.zeros_like(u) for u in a)
        assert_array_equal(case.pull(nothing), np.zeros_like(case.x))


def forward(case: Case) -> None:
    """⟨u, jvp(v)⟩ equals ⟨v, vjp(u)⟩."""
    rng = np.random.default_rng(6)
    v = direction(rng, case.sample, case.wrt)
    tensors = tensors_of(case.sample.args)
    with ForwardAccumulator(tensors[case.wrt], make_tensor(copy_raw(v))) as accumulator:
        outs = as_tuple(case.op, case.op.function(*tensors, **case.sample.static))
    slopes = [accumulator.jvp(out) if is_float(out._array) else None for out in outs]
    for us in cotangents(rng, case):
        got = sum(pair(u, unwrap(s)) for u, s in zip_present(us, slopes) if s is not None)
        assert_allclose(got, pair(v, case.pull(us)), rtol=1e-9, atol=1e-9)


def raw(case: Case) -> None:
    """Raw arrays and tensors give the same result."""
    rng = np.random.default_rng(7)
    for us in cotangents(rng, case):
        on_arrays = case.pull(us)
        on_tensors = case.pull(tensors_of(us))
        assert isinstance(on_arrays, np.ndarray | np.generic), f"raw step gives {type(on_arrays)}"
        assert isinstance(on_tensors, Tensor), f"recorded step gives {type(on_tensors)}"
        same(on_arrays, on_tensors._array, "arrays against tensors")


def dtype(case: Case) -> None:
    """A cotangent has its input's dtype, and its float64 value up to rounding."""
    for name in case.sample.dtypes:
        sample = cast_sample(case.sample, name)
        if sample is not None:
            check_one_dtype(replace(case, sample=sample), name)


def check_one_dtype(case: Case, name: str) -> None:
    """Check one dtype, raw and recorded."""
    rng = np.random.default_rng(8)
    args = tuple(to_double(a) if is_float(a) else a for a in case.sample.args)
    exact = replace(case, sample=replace(case.sample, args=args))
    eps = float(ml_dtypes.finfo(name).eps)
    for lead in ((), (2,)):
        us = next(cotangents(rng, case, lead))
        want = exact.pull(tuple(None if u is None else to_double(u) for u in us))
        for pull in (case.pull, case.pull_recorded):
            t = pull(us)
            assert t.dtype == case.x.dtype, f"{name}: cotangent of dtype {t.dtype}"
            scale = np.max(np.abs(want), initial=1)
            assert_allclose(to_double(t), want, rtol=0, atol=60 * eps * scale, err_msg=name)


def pure(case: Case) -> None:
    """Kernels and rules write to no argument: they run on read-only arrays."""
    rng = np.random.default_rng(9)
    case = replace(case, hand=copy_read_only)
    us = next(cotangents(rng, case))
    case.pull(us)
    case.pull_recorded(us)
    case.pull_twice(us, random_like(rng, case.x))


# -- checks at shapes that the sweep generates


def scalars(case: Case) -> None:
    """The properties hold for NumPy scalars."""
    batched(case, [(2,)])
    for check in (first_order, second_order, raw, dtype):
        check(case)


def broadcast(case: Case) -> None:
    """The properties hold for operands that broadcast."""
    batched(case, [(2,)])
    for check in (first_order, second_order, raw):
        check(case)


def zero_size(case: Case) -> None:
    """The properties hold for empty arrays; every op needs such a sample."""
    if np.size(case.x):
        first_order(case)
    batched(case, [(2,), (0,)])
    for check in (raw, dtype):
        check(case)


# -- from one rule or sample to all rules and samples of a primitive


def ordinary(op: Primitive, samples: list[Sample]) -> list[Sample]:
    """The given samples without empty arrays, which `zero_size` checks."""
    return [sample for sample in samples if not is_empty(sample)]


def every_rule(
    check: Callable[[Case], None], choose: Callable[..., list[Sample]] = ordinary
) -> Property:
    """Make a property that runs `check` for every rule at every chosen sample."""

    def hold(op: Primitive, samples: list[Sample]) -> None:
        if choose is empty_variants and needs_empty(op, samples):
            raise AssertionError(f"{op.name}: give a sample in which some array is empty")
        for sample in choose(op, samples):
            if check.__name__ not in sample.skip:
                for wrt in inputs_with_rules(op, sample):
                    run_with_note(check, str(case := Case(op, sample, wrt)), case)

    return hold


def every_sample(check: Callable[[Primitive, Sample], None]) -> Property:
    """Make a property that runs `check` at every sample, generated ones included."""

    def hold(op: Primitive, samples: list[Sample]) -> None:
        made = [
            v
            for choose in (scalar_variants, empty_variants, broadcast_variants)
            for v in choose(op, samples)
        ]
        for sample in [*samples, *made]:
            if check.__name__ not in sample.skip:
                run_with_note(check, f"{op.name} at {sample}", op, sample)

    return hold


def run_with_note(check: Callable[..., None], note: str, *args: Any) -> None:
    """Run `check`; add the case to the notes of a failure."""
    try:
        with np.errstate(all="ignore"):
            check(*args)
    except Exception as error:
        error.add_note(f"{check.__name__}: {note}")
        raise


PROPERTIES: dict[str, Property] = {
    "first_order": every_rule(first_order),
    "second_order": every_rule(second_order),
    "batched": every_rule(batched),
    "linear": every_rule(linear),
    "forward": every_rule(forward),
    "raw": every_rule(raw),
    "dtype": every_rule(dtype),
    "pure": every_rule(pure),
    "scalars": every_rule(scalars, scalar_variants),
    "zero_size": every_rule(zero_size, empty_variants),
    "broadcast": every_rule(broadcast, broadcast_variants),
    "kernel": every_sample(kernel),
    "new_arrays": every_sample(new_arrays),
    "dispatch": every_sample(dispatch),
    "vmapped": every_sample(vmapped),
    "shape": every_sample(shape),
}
