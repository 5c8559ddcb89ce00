"""Watches for NaN and infinity: floating-point flags, data that enters, gradients and calls."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np

from gradtape.core.context import current_trace, local
from gradtape.core.ledger import ledger
from gradtape.core.tensor import Tensor
from gradtape.core.user_location import (
    LIBRARY,
    USER_FILES,
    BackwardLocation,
    Location,
    user_location,
)
from gradtape.debug.anomaly.backward import (
    describe_step,
    find_birth_in_calls,
    find_step,
    list_function_calls,
)
from gradtape.debug.anomaly.birth import Birth, facts_of
from gradtape.debug.anomaly.finite import all_finite, is_finite
from gradtape.debug.anomaly.history import OpHistory
from gradtape.debug.anomaly.meaning import BOUNDED, DIVISIONS, LOGARITHMS, SQUARE_ROOTS
from gradtape.debug.anomaly.replay import find_birth_in_graph
from gradtape.debug.anomaly.report import AnomalyReport

RISKY_OPS = frozenset((*BOUNDED, *LOGARITHMS, *DIVISIONS, *SQUARE_ROOTS, "power", "abs"))
MOST_EVENTS = 64  # births that are kept until a result is judged


class Watcher:
    """Collects births of non-finite values, and reports the first one that ruins a result.

    Attributes:
        report: what the user sees.
        births: in the forward pass, since the last gradients that were finite.
        entered: uid and location of non-finite data that became a tensor.
        departed: uid of values that left the tensors after a birth, and whether they were finite.
    """

    def __init__(self) -> None:
        """Start without births."""
        self.report = AnomalyReport()
        self.births: list[Birth] = []
        self.entered: list[tuple[int, Location]] = []
        self.departed: list[tuple[int, bool]] = []
        self.is_judged = False
        self.is_busy = False

    def on_flag(self, kind: str, flag: int) -> None:
        """NumPy calls this when a ufunc overflows, divides by zero or has no result."""
        if self.is_busy or self.report.cause is not None or len(self.births) >= MOST_EVENTS:
            return
        self.is_busy = True
        try:
            call = find_kernel_call()
            if call is not None:
                self.check_kernel_call(*call)
        finally:
            self.is_busy = False

    def check_kernel_call(self, op: Any, raws: list[Any], static: dict[str, Any]) -> None:
        """Note a birth if the kernel makes a non-finite value of finite ones."""
        with np.errstate(all="ignore"):
            try:
                result = op.kernel(*raws, **static)
            except Exception:
                return
            facts = facts_of(raws, result if not isinstance(result, tuple) else None)
        if is_finite(result) or "non-finite input" in facts:
            return
        step = find_step(sys._getframe(3))
        position = len(ledger.entries)
        if step is not None and local.origin is None:
            self.births.append(describe_step(*step, position))
            return
        place = user_location(4)
        if isinstance(place, BackwardLocation):
            here = (place[0], place[1])
            self.births.append(Birth(place.op, here, "backward", facts, 0))
        else:
            self.births.append(Birth(op.name, place, "forward", facts, position))

    def on_result(self, op: Any, out: Any) -> None:
        """Check the result of an op whose kernel raises no flags."""
        if not self.is_busy and not is_finite(out):
            birth = Birth(op.name, user_location(3), "forward", frozenset(), len(ledger.entries))
            self.births.append(birth)

    def on_birth(self, tensor: Any) -> None:
        """Check data that becomes a tensor."""
        if not self.is_busy and not is_finite(tensor):
            self.entered.append((abs(tensor.uid), user_location(3)))

    def on_assign(self, variable: Any) -> None:
        """Judge the new value of a variable that was assigned eagerly."""
        if self.is_busy or self.report.cause is not None or not self.births:
            return
        if not is_finite(variable._stored_version()):
            self.is_judged = True
            self.conclude(is_masked=False)

    def on_departure(self, tensor: Any) -> None:
        """Note whether a value that leaves the tensors is finite."""
        if not self.is_busy and self.births and len(self.departed) < MOST_EVENTS:
            self.departed.append((abs(tensor.uid), is_finite(tensor)))

    def on_step(self, uid: int, entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        """Check the backward step of an op whose derivative is unbounded.

        Its kernels may raise no flags, because they multiply by zero with care.
        """
        op = getattr(entry[0], "op", None)
        if op is None or op.name not in RISKY_OPS or self.is_busy or current_trace():
            return
        after = [grads.get(k) for k in entry[0].inputs_of(entry)]
        kept = [t for t in entry if isinstance(t, Tensor)]
        if not is_finite(after) and is_finite(g) and is_finite(kept):
            self.births.append(describe_step(uid, entry, len(ledger.entries)))

    def list_calls(self, record: dict[int, Any]) -> list[Any]:
        """The compiled calls in the record of a tape, whose values the backward pass releases."""
        return list_function_calls(record)

    def on_gradient(self, calls: list[Any], targets: list[Any], results: list[Any]) -> None:
        """Judge gradients; `calls` are the compiled calls on the way."""
        self.is_judged = True
        is_masked = all_finite(targets)
        if is_masked and all_finite(results):
            self.births.clear()
            return
        if self.report.cause is not None:
            return
        self.is_busy = True
        try:
            self.report_gradient(calls, is_masked)
        finally:
            self.is_busy = False

    def report_gradient(self, calls: list[Any], is_masked: bool) -> None:
        """Find what ruined a gradient."""
        history = OpHistory(ledger.list_entries())
        birth: Birth | None = None
        if self.births:
            birth = self.births[0]
            history.complete(birth)
        else:
            birth = find_birth_in_calls(calls)
        if birth is None:
            birth = self.find_bad_input(history)
        self.report._set(birth, is_masked)

    def find_bad_input(self, history: OpHistory) -> Birth:
        """The data that was not finite when it became a tensor."""
        uid, place = self.entered[0] if self.entered else (0, (None, -1))
        user = history.users.get(uid)
        name = user[0][0].name if user else "data"
        return Birth(name, place, "forward", frozenset(("non-finite input",)))

    def on_call(self, saved: Any, results: list[Any], written: list[Any]) -> None:
        """Judge the results of a compiled call, and the variables that it has written."""
        if self.is_busy or self.report.cause is not None:
            return
        is_step = all_finite(v._stored_version() for v in written)
        if is_step and all_finite(results):
            if not local.recorders:
                self.births.clear()
            return
        self.is_busy = True
        try:
            birth = find_birth_in_path(saved)
        finally:
            self.is_busy = False
        if birth is not None and not self.births:
            self.births.append(birth)
        if not is_step and self.births:
            self.is_judged = True
            self.conclude(is_masked=False)

    def conclude(self, is_masked: bool) -> None:
        """Report the first birth."""
        birth = self.births[0]
        if not birth.uid:
            OpHistory(ledger.list_entries()).complete(birth)
        self.report._set(birth, is_masked)

    def finish(self) -> None:
        """Report the first birth of a program that took no gradients."""
        if not self.births or self.is_judged or self.report.cause is not None:
            return
        history = OpHistory(ledger.list_entries())
        entry = history.find_entry(self.births[0])
        after = history.depends_on(entry) if entry is not None else set()
        seen = [finite for uid, finite in self.departed if uid in after]
        if not (seen and all(seen)):  # finite results that the program has read: it was masked
            self.conclude(is_masked=False)


def find_birth_in_path(saved: Any) -> Birth | None:
    """The first non-finite value of a compiled call."""
    graph = saved.path.graph
    env = {n: t._array for n, t in zip(graph.inputs, saved.inputs, strict=True)}
    return find_birth_in_graph(graph.nodes, env, saved.effects)


def find_kernel_call() -> tuple[Any, list[Any], dict[str, Any]] | None:
    """The primitive whose kernel is running, its raw inputs and static arguments; None if none."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<gradtape plan") or USER_FILES[code.co_filename]:
            return None
        if code.co_filename.startswith(LIBRARY):
            found = read_kernel_call(frame)
            if found is not None:
                return found
        frame = frame.f_back
    return None


def read_kernel_call(frame: FrameType) -> tuple[Any, list[Any], dict[str, Any]] | None:
    """The primitive that a frame applies: that of a specialised template, or of `run_kernel`."""
    code, values = frame.f_code, frame.f_locals
    if code.co_filename.endswith("fastpath" + "/template.py") and "op" in frame.f_globals:
        op = frame.f_globals["op"]
        names = code.co_varnames[: code.co_argcount][: len(op.inputs)]
        if names == ("y", "x"):  # a reflected operator
            names = ("x", "y")
        raws = [values.get(f"{name}_", values.get(name)) for name in names]
        return op, raws, {name: values[name] for name in op.statics if name in values}
    if "raws" in values and "op" in values and "static" in values:
        return values["op"], list(values["raws"]), values["static"]
    return None
