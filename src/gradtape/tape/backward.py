"""The backward sweep: each entry, newest first, turns its output's cotangent into its inputs'.

A *step* is the backward half of one primitive for one set of watched inputs, generated on first use
in two forms: `step(entry, g, grads)` works on raw arrays, `step.recorded` on Tensors, so that an
outer recorder sees the ops. `grads` maps uids to cotangents; under the key SOURCES it holds the
uids whose gradients were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gradtape.core.dispatch import Handed, Recording, Step, needs_of, quiet
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import EagerTensor, Tensor, eager
from gradtape.ops.cotangent import Cotangents, absent, add_up
from gradtape.ops.reduce import fold
from gradtape.tape.indexed_slices import KNOWN, SOURCES, SPARSE, Slices, dense, passes_slices


def make_step(op: Primitive, mask: int, folded: bool) -> Step:
    """The backward step of `op` for the inputs in `mask`; `folded` if an operand was stretched."""
    if op.variadic:
        raw, recorded = (variadic_step(op, is_raw) for is_raw in (True, False))
    else:
        raw, recorded = (generated_step(op, mask, mask, folded, is_raw) for is_raw in (True, False))
    if op.name in SPARSE:
        raw, recorded = SPARSE[op.name](raw), SPARSE[op.name](recorded)
    raw.recorded = recorded
    raw.op = op
    raw.variadic = op.variadic
    raw.count = mask.bit_count()
    raw.narrow = narrower(op, mask, folded)
    return raw


def generated_step(op: Primitive, mask: int, want: int, folded: bool, raw: bool) -> Any:
    """Source for one entry layout (`mask`), evaluating the rules in `want`."""
    bits = [i for i in range(len(op.inputs)) if mask >> i & 1]
    needs = needs_of(op, mask, folded)
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
        lines.append("    g = filled(g, out_spec)")
    space: dict[str, Any] = {
        "__name__": __name__,
        "EagerTensor": EagerTensor,
        "add_up": add_up,
        "fold": fold,
        "filled": filled,
    }
    for i in bits:
        if not want >> i & 1:
            continue
        rule = op.rules[i]
        assert rule is not None
        space[f"rule{i}"] = rule.fn
        lines.append(f"    t = rule{i}({', '.join(('g', *rule.needs))})")
        if folded:
            shape = f"{op.inputs[i]}_shape"
            call = f"t = fold(t, {shape}, {op.core}, g, out_shape)"
            lines.append(f"    if t.shape != {shape}: {call}" if raw else f"    {call}")
        total = "add_up(p, t)" if raw else "p + t"
        lines += [f"    p = grads.get(u{i})", f"    grads[u{i}] = t if p is None else {total}"]
    exec(compile("\n".join(lines), f"<gradtape backward of {op.name}>", "exec"), space)
    return space["step"]


def variadic_step(op: Primitive, raw: bool) -> Any:
    """The step of a primitive with `*inputs`: one rule, called for each watched position."""
    rule = op.rules[0]
    assert rule is not None
    needs = needs_of(op, 1, False)

    def step(entry: tuple[Any, ...], g: Any, grads: dict[int, Any], want: int = -1) -> None:
        _, uids, mask, *kept = entry
        values = dict(zip(needs, kept, strict=True))
        if raw:
            for name in ("out", op.inputs[0]):
                if name in values:
                    values[name] = unwrapped(values[name])
        if op.outputs:
            g = filled(g, values["out_spec"])
        position = 0
        for i in range(mask.bit_length()):
            if mask >> i & 1:
                uid = uids[position]
                if want >> position & 1:
                    values["i"] = i
                    accumulate(grads, uid, rule.fn(g, *(values[name] for name in rule.needs)))
                position += 1

    return step


def unwrapped(value: Any) -> Any:
    """Raw arrays of a tensor or of a tuple of them."""
    if isinstance(value, tuple):
        return tuple(unwrapped(v) for v in value)
    return value._array if isinstance(value, Tensor) else value


def accumulate(grads: dict[int, Any], uid: int, t: Any) -> None:
    """Add `t` to the cotangent of `uid`."""
    before = grads.get(uid)
    grads[uid] = t if before is None else add_up(before, t)


def filled(g: dict[int, Any], specs: tuple[Spec, ...]) -> Cotangents:
    """Cotangents of all outputs, zeros for those nobody used."""
    if len(g) == len(specs):
        return Cotangents([g[k] for k in range(len(specs))])
    i, some = next(iter(g.items()))
    shape = some._array.shape if isinstance(some, Tensor) else some.shape
    lead = shape[: len(shape) - len(specs[i].shape)]
    wrap = eager if isinstance(some, Tensor) else unwrapped
    return Cotangents(
        [
            g[k] if k in g else wrap(absent(lead + spec.shape, spec.dtype))
            for k, spec in enumerate(specs)
        ]
    )


def narrower(op: Primitive, mask: int, folded: bool) -> Callable[[int, bool], Any]:
    """Steps for the same entries but fewer rules: bit k of `want` is the k-th watched input."""
    cache: dict[tuple[int, bool], Any] = {}

    def narrow(want: int, raw: bool) -> Any:
        key = (want, raw)
        if key not in cache:
            if op.variadic:
                full = variadic_step(op, raw)
                cache[key] = lambda entry, g, grads: full(entry, g, grads, want)
            else:
                bits = [i for i in range(len(op.inputs)) if mask >> i & 1]
                some = sum(1 << i for k, i in enumerate(bits) if want >> k & 1)
                cache[key] = generated_step(op, mask, some, folded, raw)
        return cache[key]

    return narrow


def move(entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
    """Bring the cotangent of one output of several to their common entry."""
    _, anchor, i = entry
    grads.setdefault(anchor, {})[i] = g


move.recorded = move  # type: ignore[attr-defined]
move.variadic = False  # type: ignore[attr-defined]
move.count = 1  # type: ignore[attr-defined]

Handed.make_step = make_step
Handed.move = move


def sweep(known: Recording, grads: dict[int, Any], recorded: bool, release: bool) -> dict[int, Any]:
    """Propagate cotangents from the targets in `grads` to the uids in `grads[SOURCES]`.

    Args:
        known: the recording.
        grads: cotangents of the targets; is used up.
        recorded: work on Tensors, so that active recorders see the ops.
        release: forget entries as they are used, so that memory falls while the sweep runs.

    Returns:
        Cotangents by uid; a source that is not connected is absent.
    """
    sources = grads[SOURCES]
    grads[KNOWN] = known
    roots = known.roots
    if roots == sources or (roots <= sources and known.keys().isdisjoint(sources - roots)):
        everything(known, grads, recorded, release)
        return grads
    return selected(known, grads, sources, recorded, release)


def everything(known: Recording, grads: dict[int, Any], recorded: bool, release: bool) -> None:
    """All roots are wanted and nothing else: no need to look where a step leads."""
    if release and not recorded:
        use_up(known, grads)
        return
    with quiet():
        for uid, entry in backwards(known, release):
            if entry is not None:
                g = grads.pop(uid, None)
                if g is not None:
                    (entry[0].recorded if recorded else entry[0])(entry, g, grads)


@quiet()
def use_up(known: Recording, grads: dict[int, Any]) -> None:
    """The common case: raw arrays, and each entry is needed only once."""
    while known:
        uid, entry = known.popitem()
        if entry is not None:
            g = grads.pop(uid, None)
            if g is not None:
                entry[0](entry, g, grads)


def backwards(known: Recording, release: bool) -> Iterable[tuple[int, Any]]:
    """Entries, newest first; those recorded meanwhile are not among them."""
    if not release:
        yield from reversed(list(known.items()))
        return
    while known:
        yield known.popitem()


def selected(
    known: Recording, grads: dict[int, Any], sources: frozenset[int], recorded: bool, release: bool
) -> dict[int, Any]:
    """Run only the rules that lead to a source; sources may be intermediate results."""
    reached = reachable(known, sources)
    found: dict[int, Any] = {}
    with quiet():
        for uid, entry in backwards(known, release):
            g = grads.get(uid)
            if g is None:
                continue
            if uid in sources:
                found[uid] = g
            if entry is None:
                continue
            del grads[uid]
            step = entry[0]
            if type(g) is Slices and not passes_slices(step):
                g = dense(g)
            inputs = entry[1] if step.variadic else entry[1 : 1 + step.count]
            want = sum(1 << k for k, source in enumerate(inputs) if source in reached)
            if want == (1 << len(inputs)) - 1:
                (step.recorded if recorded else step)(entry, g, grads)
            elif want:
                step.narrow(want, not recorded)(entry, g, grads)
    del grads[SOURCES]
    return {**grads, **found}


def reachable(known: Recording, sources: frozenset[int]) -> set[int]:
    """Uids that depend on a source, sources included."""
    reached = set(sources)
    for uid, entry in known.items():
        if entry is not None:
            step = entry[0]
            inputs = entry[1] if step.variadic else entry[1 : 1 + step.count]
            if not reached.isdisjoint(inputs):
                reached.add(uid)
    return reached
