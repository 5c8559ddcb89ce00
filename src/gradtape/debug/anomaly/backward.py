"""Births of non-finite values in the backward pass, named by their forward op."""

from __future__ import annotations

from types import FrameType
from typing import Any

from gradtape.core.tensor import Tensor
from gradtape.debug.anomaly.birth import Birth, facts_of
from gradtape.debug.anomaly.replay import find_birth_in_graph
from gradtape.jit.backward import (
    FUNCTION_STEP,
    differentiable_cotangents,
    trace_forward_backward,
)
from gradtape.ops.initial_cotangent import make_ones
from gradtape.ops.shape import zeros

SWEEPS = ("sweep_all", "sweep_to_sources", "sweep_and_release")


def find_step(frame: FrameType | None) -> tuple[int, Any] | None:
    """Uid and entry of the backward step that is running in one of the frames, or None."""
    while frame is not None:
        if frame.f_code.co_name in SWEEPS and "entry" in frame.f_locals:
            return frame.f_locals["uid"], frame.f_locals["entry"]
        frame = frame.f_back
    return None


def describe_step(uid: int, entry: tuple[Any, ...], position: int) -> Birth:
    """The birth of a non-finite value in the backward step of an entry."""
    op = getattr(entry[0], "op", None)
    raws = [t._array for t in entry[1:] if isinstance(t, Tensor)]
    name = "gradient" if op is None else op.name
    facts = facts_of(raws) - {"non-finite input"}
    birth = Birth(name, (None, -1), "backward", facts, position)
    birth.uid = abs(uid)
    return birth


def list_function_calls(record: dict[int, Any]) -> list[tuple[Any, ...]]:
    """The entries of compiled calls in a record."""
    return [e for e in record.values() if e is not None and e[0] is FUNCTION_STEP]


def find_birth_in_calls(calls: list[tuple[Any, ...]]) -> Birth | None:
    """The first birth inside compiled calls: their forward and backward graphs run again."""
    for call in calls:
        birth = find_birth_in_call(call)
        if birth is not None:
            return birth
    return None


def find_birth_in_call(entry: tuple[Any, ...]) -> Birth | None:
    """The birth in the forward or backward graph of one call, with ones as cotangents."""
    _, _, mask, saved = entry
    path = saved.path
    places = tuple([i for i in range(mask.bit_length()) if mask >> i & 1])
    cotangents = [make_ones(zeros(spec.shape, spec.dtype)) for spec in path.specs]
    joint, _ = trace_forward_backward(saved, cotangents, places)
    forward, backward = joint.forward_graph, joint.backward_graph
    given = [t._array for t in saved.inputs] + [r for done in saved.effects for r in done]
    env = dict(zip(forward.inputs, given, strict=True))
    seeds = differentiable_cotangents(path, cotangents)
    env.update(zip(backward.inputs[len(backward.inputs) - len(seeds) :], seeds, strict=True))
    return find_birth_in_graph([*forward.nodes, *backward.nodes], env, ())
