"""A backward pass that checks every step, and names the forward op of the first bad one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.dispatch import TapeRecord
from gradtape.core.tensor import Tensor
from gradtape.debug.anomaly.birth import Birth, facts_of
from gradtape.debug.anomaly.finite import is_finite
from gradtape.debug.anomaly.history import OpHistory
from gradtape.debug.anomaly.replay import find_birth_in_graph
from gradtape.jit.backward import (
    FUNCTION_STEP,
    differentiable_cotangents,
    trace_forward_backward,
)
from gradtape.tape.backward import fill_missing_cotangents
from gradtape.tape.indexed_slices import RECORD, SOURCES


def find_backward_birth(
    entries: dict[int, Any], seeds: dict[int, Any], sources: frozenset[int], history: OpHistory
) -> Birth | None:
    """The forward op whose backward step made the first non-finite cotangent."""
    record = TapeRecord(False)
    record.update(entries)
    record.roots = set(sources)
    grads: dict[int, Any] = {**seeds, SOURCES: sources, RECORD: record}
    with np.errstate(all="ignore"):
        for uid, entry in reversed(list(entries.items())):
            g = grads.pop(uid, None) if entry is not None else None
            if g is None:
                continue
            before = {k: grads.get(k) for k in entry[0].inputs_of(entry)}
            entry[0].run(entry, g, grads)
            changed = [grads.get(k) for k, old in before.items() if grads.get(k) is not old]
            if is_finite(g) and not is_finite(changed):
                return describe_step(uid, entry, g, entries, history)
    return None


def describe_step(
    uid: int, entry: tuple[Any, ...], g: Any, entries: dict[int, Any], history: OpHistory
) -> Birth | None:
    """The birth of a non-finite value in the backward step of an entry."""
    if entry[0] is FUNCTION_STEP:
        return find_birth_in_call(entry, g)
    if uid not in history.makers and abs(uid) not in history.makers:
        uid = next((k for k, e in entries.items() if e and e[1:2] == (uid,)), uid)
    op = getattr(entry[0], "op", None)
    maker = history.makers.get(abs(uid))
    name = op.name if op is not None else (maker[0].name if maker is not None else "gradient")
    raws = [t._array for t in entry[2:] if isinstance(t, Tensor)]
    birth = Birth(name, history.location_of(uid), "backward", facts_of(raws))
    birth.facts -= {"non-finite input"}
    birth.uid = abs(uid)
    history.complete(birth)
    return birth


def find_birth_in_call(entry: tuple[Any, ...], g: Any) -> Birth | None:
    """The birth inside a compiled call: its forward and backward graphs run again."""
    _, _, mask, saved = entry
    path = saved.path
    places = tuple([i for i in range(mask.bit_length()) if mask >> i & 1])
    cotangents = list(fill_missing_cotangents(g, path.specs))
    joint, _ = trace_forward_backward(saved, cotangents, places)
    forward, backward = joint.forward_graph, joint.backward_graph
    given = [t._array for t in saved.inputs] + [r for done in saved.effects for r in done]
    env = dict(zip(forward.inputs, given, strict=True))
    seeds = differentiable_cotangents(path, cotangents)
    env.update(zip(backward.inputs[len(backward.inputs) - len(seeds) :], seeds, strict=True))
    return find_birth_in_graph([*forward.nodes, *backward.nodes], env, ())
