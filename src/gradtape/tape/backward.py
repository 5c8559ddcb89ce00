"""The backward pass: each entry, newest first, turns its output's cotangent into its inputs'.

A *step* is the backward half of one primitive for one set of watched inputs. It is generated on
first use, in two forms: `step(entry, g, grads)` works on raw arrays; `step.recorded` works on
Tensors, so that an outer recorder sees the ops. `grads` maps uids to cotangents. Its key SOURCES
holds the uids whose gradients are requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.dispatch import (
    BackwardStep,
    TapePort,
    TapeRecord,
    ignore_float_errors,
    residuals_of,
)
from gradtape.core.identifier import check_identifier
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
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


def make_step(op: Primitive, mask: int, folded: bool) -> BackwardStep:
    """The backward step of `op` for the inputs in `mask`; `folded` if an operand was broadcast."""
    if op.variadic:
        raw, recorded = (make_variadic_step(op, is_raw) for is_raw in (True, False))
    else:
        raw, recorded = (generate_step(op, mask, mask, folded, is_raw) for is_raw in (True, False))
    if op.name in SPARSE_STEPS:
        raw, recorded = SPARSE_STEPS[op.name](raw), SPARSE_STEPS[op.name](recorded)
    raw.recorded = recorded
    raw.op = op
    raw.variadic = op.variadic
    raw.count = mask.bit_count()
    raw.narrow = make_narrow(op, mask, folded)
    return raw


def generate_step(op: Primitive, mask: int, want: int, folded: bool, raw: bool) -> Any:
    """Generate the step for entries of the layout `mask` that evaluates the rules in `want`."""
    bits = [i for i in range(len(op.inputs)) if mask >> i & 1]
    needs = [check_identifier(need) for need in residuals_of(op, mask, folded)]
    parts = ["_", *(f"u{i}" for i in bits), *needs]
    lines = ["def step(entry, g, grads):", f"    {', '.join(parts)}, = entry"]
    if raw:
        for need in needs:
            if need == "out" and op.outputs:
                lines.append("    out = tuple([o._array for o in out])")
            elif need in op.inputs or need == "out":
                lines.append(f"    if type({need}) is EagerTensor: {need} = {need}._array")
                lines.append(f"    elif isinstance({need}, EagerTensor): {need} = {need}._array")
    if op.outputs:
        lines.append("    g = fill_missing_cotangents(g, out_spec)")
    space: dict[str, Any] = {
        "__name__": __name__,
        "EagerTensor": EagerTensor,
        "accumulate": accumulate,
        "unbroadcast": unbroadcast,
        "fill_missing_cotangents": fill_missing_cotangents,
    }
    for i in bits:
        if not want >> i & 1:
            continue
        rule = op.rules[i]
        assert rule is not None
        space[f"rule{i}"] = rule.fn
        lines.append(f"    t = rule{i}({', '.join(('g', *rule.residuals))})")
        if folded:
            shape = f"{op.inputs[i]}_shape"
            call = f"t = unbroadcast(t, {shape}, {op.core_ndim}, g, out_shape)"
            lines.append(f"    if t.shape != {shape}: {call}" if raw else f"    {call}")
        total = "accumulate(p, t)" if raw else "p + t"
        lines += [f"    p = grads.get(u{i})", f"    grads[u{i}] = t if p is None else {total}"]
    exec(compile("\n".join(lines), f"<gradtape backward of {op.name}>", "exec"), space)
    return space["step"]


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
            g[k] if k in g else wrap(make_absent_cotangent(lead + spec.shape, spec.dtype))
            for k, spec in enumerate(specs)
        ]
    )


def make_narrow(op: Primitive, mask: int, folded: bool) -> Callable[[int, bool], Any]:
    """Make the function `narrow(want, raw)`, which returns a step that runs only some rules.

    Bit k of `want` is the k-th watched input.
    """
    cache: dict[tuple[int, bool], Any] = {}

    def narrow(want: int, raw: bool) -> Any:
        key = (want, raw)
        if key not in cache:
            if op.variadic:
                full = make_variadic_step(op, raw)
                cache[key] = lambda entry, g, grads: full(entry, g, grads, want)
            else:
                bits = [i for i in range(len(op.inputs)) if mask >> i & 1]
                some = sum(1 << i for k, i in enumerate(bits) if want >> k & 1)
                cache[key] = generate_step(op, mask, some, folded, raw)
        return cache[key]

    return narrow


def route_cotangent(entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
    """Store the cotangent of one of several outputs under the uid of their common entry."""
    _, anchor, i = entry
    grads.setdefault(anchor, {})[i] = g


route_cotangent.recorded = route_cotangent  # type: ignore[attr-defined]
route_cotangent.variadic = False  # type: ignore[attr-defined]
route_cotangent.count = 1  # type: ignore[attr-defined]

TapePort.make_step = make_step
TapePort.route_cotangent = route_cotangent


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
    if release and not recorded:
        sweep_and_release(record, grads)
        return
    with ignore_float_errors():
        for uid, entry in iterate_backwards(record, release):
            if entry is not None:
                g = grads.pop(uid, None)
                if g is not None:
                    (entry[0].recorded if recorded else entry[0])(entry, g, grads)


@ignore_float_errors()
def sweep_and_release(record: TapeRecord, grads: dict[int, Any]) -> None:
    """Run every step on raw arrays and drop each entry: the common case."""
    while record:
        uid, entry = record.popitem()
        if entry is not None:
            g = grads.pop(uid, None)
            if g is not None:
                entry[0](entry, g, grads)


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
    with ignore_float_errors():
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
            inputs = entry[1] if step.variadic else entry[1 : 1 + step.count]
            want = sum(1 << k for k, source in enumerate(inputs) if source in reached)
            if want == (1 << len(inputs)) - 1:
                (step.recorded if recorded else step)(entry, g, grads)
            elif want:
                step.narrow(want, not recorded)(entry, g, grads)
    del grads[SOURCES]
    return {**grads, **found}


def reachable_uids(record: TapeRecord, sources: frozenset[int]) -> set[int]:
    """Uids of the sources and of everything that depends on them."""
    reached = set(sources)
    for uid, entry in record.items():
        if entry is not None:
            step = entry[0]
            inputs = entry[1] if step.variadic else entry[1 : 1 + step.count]
            if not reached.isdisjoint(inputs):
                reached.add(uid)
    return reached
