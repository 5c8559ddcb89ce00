"""The backward pass: each entry, newest first, turns its output's cotangent into its inputs'.

The step of a primitive for one set of watched inputs runs copies of `step_template.py`, made on
first use. The key SOURCES of `grads` holds the uids whose gradients are requested.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any

from gradtape.core.context import current_trace, local
from gradtape.core.dims import Dim
from gradtape.core.dispatch import (
    TapeRecord,
    ignore_float_errors,
    residuals_of,
)
from gradtape.core.fastpath.codegen import INPUT_NAMES, readable_text
from gradtape.core.fastpath.specialise import compile_template, find_template
from gradtape.core.generated_code import REFERENCE
from gradtape.core.identifier import check_identifier
from gradtape.core.ledger import ledger
from gradtape.core.ports import SizePort, TapePort
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.core.user_location import make_backward_location
from gradtape.ops.cotangent import Cotangents, accumulate, make_absent_cotangent
from gradtape.ops.reduce import unbroadcast
from gradtape.tape.indexed_slices import (
    RECORD,
    SOURCES,
    SPARSE_STEPS,
    SparseCotangent,
    densify_cotangent,
    keeps_slices,
)
from gradtape.tape.step import ROUTE_COTANGENT, Entry, RunStep, Step

TEMPLATE_FILE = os.path.join(os.path.dirname(__file__), "step_template.py")
# Names of the template that a static parameter would hide
RESERVED_NAMES = frozenset(("x", "y", "z", "out", "g", "t", "p", "entry", "grads", "_"))


class PrimitiveStep(Step):
    """The backward step of a primitive for one set of watched inputs."""

    __slots__ = ("count", "folded", "mask", "narrowed", "op", "run", "run_recorded")

    def __init__(self, op: Primitive, mask: int, folded: bool) -> None:
        """For the inputs in `mask`; `folded` if an operand was broadcast."""
        self.op = op
        self.count = None if op.variadic else mask.bit_count()
        self.mask = mask
        self.folded = folded
        self.narrowed: dict[tuple[int, bool], Any] = {}
        self.run = self.generate(True)
        self.run_recorded = self.generate_and_run_recorded

    def generate(self, raw: bool) -> Any:
        """Make `run` or `run_recorded`."""
        op = self.op
        assert op is not None
        if op.variadic:
            step = make_variadic_step(op, raw)
        else:
            step = generate_step(op, self.mask, self.mask, self.folded, raw)
        return SPARSE_STEPS[op.name](step) if op.name in SPARSE_STEPS else step

    def generate_and_run_recorded(self, entry: Entry, g: Any, grads: dict[int, Any]) -> None:
        """Run on Tensors; generated on first use, because few programs need it."""
        self.run_recorded = self.generate(False)
        self.run_recorded(entry, g, grads)

    def narrow(self, want: int, raw: bool) -> RunStep:
        """`run` or `run_recorded` with only some rules."""
        key = (want, raw)
        if key not in self.narrowed:
            self.narrowed[key] = self.generate_narrow(want, raw)
        step: RunStep = self.narrowed[key]
        return step

    def generate_narrow(self, want: int, raw: bool) -> Any:
        """Make the step that runs only the rules of the watched inputs in `want`."""
        op = self.op
        assert op is not None
        if op.variadic:
            full = make_variadic_step(op, raw)
            return lambda entry, g, grads: full(entry, g, grads, want)
        bits = [i for i in range(len(op.inputs)) if self.mask >> i & 1]
        some = sum(1 << i for k, i in enumerate(bits) if want >> k & 1)
        return generate_step(op, self.mask, some, self.folded, raw)


def generate_step(op: Primitive, mask: int, want: int, folded: bool, raw: bool) -> Any:
    """Specialise the step for entries of the layout `mask` that evaluates the rules in `want`."""
    if REFERENCE or len(op.inputs) > 3 or not RESERVED_NAMES.isdisjoint(op.statics):
        return make_reference_step(op, mask, want, folded, raw)
    template = find_template(TEMPLATE_FILE, "step")
    code = compile_template(template, step_text(op, mask, want, folded, raw), {}).__code__
    space: dict[str, Any] = {**STEP_GLOBALS, "op": op}
    for name, rule in zip(INPUT_NAMES, op.rules, strict=False):
        if rule is not None:
            space[f"{name}_rule"] = rule.fn
    space["source"] = lambda: readable_text(step_text(op, mask, want, folded, raw), op.inputs)
    return FunctionType(code, space, "step")


def step_text(op: Primitive, mask: int, want: int, folded: bool, raw: bool) -> str:
    """The text of the template for a step."""
    residuals = [check_identifier(name) for name in residuals_of(op, mask, folded)]
    names = dict(zip(op.inputs, INPUT_NAMES, strict=False))
    for name in op.inputs:
        names[f"{name}_shape"] = f"{names[name]}_shape"
    flags: dict[str, bool] = {}
    for i, short in enumerate(INPUT_NAMES):
        flags[f"WANT_{short.upper()}"] = bool(want >> i & 1)
        flags[f"UNWRAP_{short.upper()}"] = raw and i < len(op.inputs) and op.inputs[i] in residuals
    flags["UNWRAP_OUT"] = raw and "out" in residuals and not op.outputs
    flags["UNWRAP_ALL"] = raw and "out" in residuals and op.outputs
    flags |= {"OUTPUTS": op.outputs, "FOLDED": folded, "RAW": raw}
    text = find_template(TEMPLATE_FILE, "step").resolve(flags)
    for i, rule in enumerate(op.rules):
        if rule is not None and want >> i & 1:
            arguments = ", ".join(["g", *(names.get(n, n) for n in rule.residuals)])
            text = text.replace(
                f"{INPUT_NAMES[i]}_rule(g, ...)", f"{INPUT_NAMES[i]}_rule({arguments})"
            )
    uids = [f"{INPUT_NAMES[i]}_uid" for i in range(len(op.inputs)) if mask >> i & 1]
    layout = ", ".join(["_", *uids, *(names.get(n, n) for n in residuals)])
    return text.replace("LAYOUT", layout).replace("CORE_NDIM", str(op.core_ndim))


def make_reference_step(op: Primitive, mask: int, want: int, folded: bool, raw: bool) -> Any:
    """What the template does: call the rules in `want`, unbroadcast, accumulate."""
    positions = [i for i in range(len(op.inputs)) if mask >> i & 1]
    needs = residuals_of(op, mask, folded)

    def step(entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        uids, kept = entry[1 : 1 + len(positions)], entry[1 + len(positions) :]
        values = dict(zip(needs, kept, strict=True))
        if raw:
            for name in ("out", *op.inputs):
                if name in values:
                    values[name] = unwrap(values[name])
        if op.outputs:
            g = fill_missing_cotangents(g, values["out_spec"])
        for i, uid in zip(positions, uids, strict=True):
            rule = op.rules[i]
            if rule is not None and want >> i & 1:
                t = rule.fn(g, *[values[name] for name in rule.residuals])
                if folded and op.core_ndim is not None:
                    shape = values[f"{op.inputs[i]}_shape"]
                    t = unbroadcast(t, shape, op.core_ndim, g, values["out_shape"])
                add_cotangent(grads, uid, t)

    return step


def make_variadic_step(op: Primitive, raw: bool) -> Any:
    """Make the step of a primitive with `*inputs`: one rule, called for each watched position."""
    rule = op.rules[0]
    assert rule is not None
    needs = residuals_of(op, 1, False)

    def step(entry: tuple[Any, ...], g: Any, grads: dict[int, Any], want: int = -1) -> None:
        _, uids, mask, *kept = entry
        values = dict(zip(needs, kept, strict=True))
        if raw:
            for name in ("out", op.inputs[0]):
                if name in values:
                    values[name] = unwrap(values[name])
        if op.outputs:
            g = fill_missing_cotangents(g, values["out_spec"])
        position = 0
        for i in range(mask.bit_length()):
            if mask >> i & 1:
                uid = uids[position]
                if want >> position & 1:
                    values["i"] = i
                    add_cotangent(
                        grads, uid, rule.fn(g, *(values[name] for name in rule.residuals))
                    )
                position += 1

    return step


def unwrap(value: Any) -> Any:
    """The raw array of a tensor; for a tuple, of each item."""
    if isinstance(value, tuple):
        return tuple(unwrap(v) for v in value)
    return value._array if isinstance(value, Tensor) else value


def add_cotangent(grads: dict[int, Any], uid: int, t: Any) -> None:
    """Add `t` to the cotangent of `uid`."""
    before = grads.get(uid)
    grads[uid] = t if before is None else accumulate(before, t)


def fill_missing_cotangents(g: dict[int, Any], specs: tuple[Spec, ...]) -> Cotangents:
    """Cotangents of all outputs; zeros for outputs that have none."""
    if len(g) == len(specs):
        return Cotangents([g[k] for k in range(len(specs))])
    i, some = next(iter(g.items()))
    shape = some._array.shape if isinstance(some, Tensor) else some.shape
    lead = shape[: len(shape) - len(specs[i].shape)]
    wrap = make_tensor if isinstance(some, Tensor) else unwrap
    return Cotangents(
        [
            g[k] if k in g else make_zero_cotangent(lead + spec.shape, spec.dtype, wrap)
            for k, spec in enumerate(specs)
        ]
    )


def make_zero_cotangent(shape: tuple[Any, ...], dtype: Any, wrap: Any) -> Any:
    """The cotangent of an output that has none; in a trace its sizes may be unknown."""
    if Dim in map(type, shape):
        return SizePort.make_filled(shape, 0, dtype)
    return wrap(make_absent_cotangent(shape, dtype))


STEP_GLOBALS: dict[str, Any] = {
    "__name__": "gradtape.tape.step_template",
    "__builtins__": builtins,  # NumPy imports modules through it
    "EagerTensor": EagerTensor,
    "accumulate": accumulate,
    "unbroadcast": unbroadcast,
    "fill_missing_cotangents": fill_missing_cotangents,
}

TapePort.supply(make_step=PrimitiveStep, route_cotangent=ROUTE_COTANGENT)


def backward_pass(
    record: TapeRecord, grads: dict[int, Any], recorded: bool, release: bool
) -> dict[int, Any]:
    """Propagate cotangents from the targets in `grads` to the uids in `grads[SOURCES]`.

    Args:
        record: entries by uid.
        grads: cotangents of the targets; modified.
        recorded: whether to work on Tensors, so that active recorders see the ops.
        release: whether to drop each entry after its use, which frees memory during the pass.

    Returns:
        Cotangents by uid, without those of unconnected sources.
    """
    sources = grads[SOURCES]
    grads[RECORD] = record
    roots = record.roots
    if roots == sources or (roots <= sources and record.keys().isdisjoint(sources - roots)):
        sweep_all(record, grads, recorded, release)
        return grads
    return sweep_to_sources(record, grads, sources, recorded, release)


def sweep_all(record: TapeRecord, grads: dict[int, Any], recorded: bool, release: bool) -> None:
    """Run every step: exactly the watched tensors are requested, so no step can be skipped."""
    if not recorded and ledger.checks is None:
        sweep_and_release(record if release else dict(record), grads)
        return
    run = choose_runner(recorded)
    with allow_float_errors():
        for uid, entry in iterate_backwards(record, release):
            if entry is not None:
                g = grads.pop(uid, None)
                if g is None:
                    continue
                run(uid, entry[0].run_recorded if recorded else entry[0].run, entry, g, grads)


def allow_float_errors() -> AbstractContextManager[Any]:
    """Ignore floating-point errors in this scope, unless `debug.anomaly` looks for them."""
    return ignore_float_errors() if ledger.checks is None else nullcontext()


def choose_runner(recorded: bool) -> Callable[..., None]:
    """The function that runs the steps of a pass, which `debug.anomaly` may check."""
    run = run_at_origin if recorded else run_step
    if ledger.checks is None:
        return run
    watcher = ledger.checks

    def run_and_check(uid: int, step: Any, entry: Any, g: Any, grads: dict[int, Any]) -> None:
        run(uid, step, entry, g, grads)
        watcher.on_step(uid, entry, g, grads)

    return run_and_check


def run_step(uid: int, step: Any, entry: Any, g: Any, grads: dict[int, Any]) -> None:
    """Run a step on raw arrays."""
    step(entry, g, grads)


def run_at_origin(uid: int, step: Any, entry: Any, g: Any, grads: dict[int, Any]) -> None:
    """Run a recorded step; in a trace, its ops are located at the forward op."""
    stage = current_trace()
    node = stage[0].origins.get(uid) if stage else None
    if node is None:
        step(entry, g, grads)
        return
    before = local.origin
    try:
        local.origin = make_backward_location(node.location, node.op.name)
        step(entry, g, grads)
    finally:
        local.origin = before


@ignore_float_errors()
def sweep_and_release(record: dict[int, Any], grads: dict[int, Any]) -> None:
    """Run every step on raw arrays and drop each entry: the common case."""
    while record:
        uid, entry = record.popitem()
        if entry is not None:
            g = grads.pop(uid, None)
            if g is not None:
                run = entry[0].run  # an attribute, not a method: CPython loads it faster so
                run(entry, g, grads)


def iterate_backwards(record: TapeRecord, release: bool) -> Iterable[tuple[int, Any]]:
    """Yield the entries, newest first, without those recorded during the pass."""
    if not release:
        yield from reversed(list(record.items()))
        return
    while record:
        yield record.popitem()


def sweep_to_sources(
    record: TapeRecord,
    grads: dict[int, Any],
    sources: frozenset[int],
    recorded: bool,
    release: bool,
) -> dict[int, Any]:
    """Run only the rules that lead to a source. Sources may be intermediate results."""
    reached = reachable_uids(record, sources)
    found: dict[int, Any] = {}
    run = choose_runner(recorded)
    with allow_float_errors():
        for uid, entry in iterate_backwards(record, release):
            g = grads.get(uid)
            if g is None:
                continue
            if uid in sources:
                found[uid] = g
            if entry is None:
                continue
            del grads[uid]
            step = entry[0]
            if type(g) is SparseCotangent and not keeps_slices(step):
                g = densify_cotangent(g)
            inputs = step.inputs_of(entry)
            want = sum(1 << k for k, source in enumerate(inputs) if source in reached)
            if want == (1 << len(inputs)) - 1:
                run(uid, step.run_recorded if recorded else step.run, entry, g, grads)
            elif want:
                run(uid, step.narrow(want, not recorded), entry, g, grads)
    del grads[SOURCES]
    return {**grads, **found}


def reachable_uids(record: TapeRecord, sources: frozenset[int]) -> set[int]:
    """Uids of the sources and of everything that depends on them."""
    reached = set(sources)
    for uid, entry in record.items():
        if entry is not None:
            step = entry[0]
            inputs = step.inputs_of(entry)
            if not reached.isdisjoint(inputs):
                reached.add(uid)
    return reached
