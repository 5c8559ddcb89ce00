"""The ledger: what every op, conversion and assignment did, while `debug.explain` is on.

An entry is a flat tuple `(op, inputs, outputs, code, instruction, moment)`. `op` is a Primitive or
a string, `inputs` and `outputs` are uids (or what the kind of entry says), `code` and `instruction`
locate the innermost frame of the user's program. A `Moment` says which recorders were active.
Entries hold no arrays. `gradtape.debug.explain` reads them when a gradient is asked about.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections import deque
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

from gradtape.core.context import local, next_uid, scope_hook
from gradtape.core.user_location import (
    KNOWN_USER_FILES,
    LIBRARY,
    USER_FILES,
    user_code_of,
    user_location,
)

MAX_ENTRIES = 1_000_000
MAX_FRAMES = 40  # library frames that are searched
Entry = tuple[Any, Any, Any, "CodeType | None", int, "Moment"]
# Files whose functions hand values to Python for the user
WAYS_OUT = tuple(
    os.path.join(LIBRARY, *parts)
    for parts in (
        ("core", "tensor.py"),
        ("core", "errors.py"),
        ("core", "ragged"),
        ("state", "variable"),
        ("tf", "framework.py"),
        ("tf", "tensor_proto.py"),
    )
)


class Moment:
    """Which recorders were active in which thread, and inside which scopes of the library.

    Attributes:
        recorders: serial numbers of the recorders.
        thread: the identifier of the thread.
        scopes: for each scope that changed the recorders its kind and location.
    """

    __slots__ = ("recorders", "scopes", "thread")

    def __init__(self, recorders: tuple[int, ...], scopes: tuple[Any, ...]) -> None:
        """The moment now, in this thread."""
        self.recorders = frozenset(recorders)
        self.thread = get_ident()
        self.scopes = scopes


class Ledger:
    """The entries, and whether the library writes them.

    Attributes:
        active: whether entries are written. Functions test it; generated code is made again.
        full: whether all of them are, not only those of ops.
        checks: the watcher for NaN and infinity, or None.
        entries: newest last; the oldest are dropped beyond `MAX_ENTRIES`.
        lost: gradients that were None, as `(history, target uids, source uids, variable key)`.
        kinds: dtype kinds of values, by uid.
        left: arrays that left the tensors: id → weak reference and number.
        observers: called when `active` changes.
        loss_observers: called when a gradient is None.
    """

    __slots__ = (
        "active",
        "checks",
        "entries",
        "full",
        "kinds",
        "left",
        "loss_observers",
        "lost",
        "observers",
    )

    def __init__(self) -> None:
        """Start switched off and empty."""
        self.active = False
        self.full = False
        self.checks: Any = None
        self.entries: deque[tuple[Any, ...]] = deque(maxlen=MAX_ENTRIES)
        self.lost: list[Any] = []
        self.kinds: dict[int, str] = {}  # dtype kinds of results of ops that lack a rule
        self.left: dict[int, tuple[Any, int]] = {}  # arrays that left the tensors, by id
        self.observers: list[Callable[[], None]] = []
        self.loss_observers: list[Callable[[], None]] = []

    def set_mode(self, full: bool, checks: Any) -> None:
        """Write all entries, or only ops for `checks`; generated functions are made again.

        Args:
            full: whether `debug.explain` is on.
            checks: the watcher of `debug.anomaly`, or None.
        """
        self.full, self.checks = full, checks
        scope_hook[0] = enter_scope if full else None
        active = full or checks is not None
        if active != self.active:
            self.active = active
            for observe in self.observers:
                observe()

    def list_entries(self) -> list[Entry]:
        """The entries, oldest first, in one layout: `note_op` writes a flatter one."""
        return [
            (e[3], (e[0], e[1]), e[2], e[4], e[5], e[6]) if len(e) == 7 else e for e in self.entries
        ]

    def clear(self) -> None:
        """Forget all entries."""
        self.entries.clear()
        self.lost.clear()
        self.kinds.clear()
        self.left.clear()


ledger = Ledger()
append_entry = ledger.entries.append
# Modules whose kernels come from SciPy or LAPACK, which report no floating-point flags
SILENT_MODULES = tuple(f"gradtape.ops.{name}" for name in ("linalg.", "special", "bessel"))
get_frame = sys._getframe


def serial_of(recorder: Any) -> int:
    """The serial number of a recorder."""
    serial: int | None = getattr(recorder, "serial", None)
    if serial is None:
        serial = next_uid()
        recorder.serial = serial
    return serial


NOW: list[Any] = [None, None]  # the last recorders that were not empty, and their moment


def current_moment() -> Moment:
    """The moment of an op in this thread; consecutive ops share it."""
    recorders = local.recorders
    if not recorders:
        known: Moment | None = local.moment
        if known is None:
            known = local.moment = Moment((), local.scopes)
        return known
    if recorders is not NOW[0]:
        NOW[:] = recorders, Moment(tuple([serial_of(r) for r in recorders]), local.scopes)
    found: Moment = NOW[1]
    return found


def note_op(op: Any, x: int, y: int, out: Any) -> None:
    """Write that `op` made the tensor `out` of inputs with these uids; 0 is no tensor."""
    frame: FrameType | None = get_frame(2)
    recorders = local.recorders
    moment = (NOW[1] if recorders is NOW[0] else None) if recorders else local.moment
    if moment is None:
        moment = current_moment()
    while frame is not None:
        code = frame.f_code
        if code.co_filename in KNOWN_USER_FILES or USER_FILES[code.co_filename]:
            append_entry((x, y, out.uid, op, code, frame.f_lasti, moment))
            return
        frame = frame.f_back
    append_entry((x, y, out.uid, op, None, -1, moment))


def is_silent(op: Any) -> bool:
    """Whether the kernel of an op reports no floating-point flags."""
    module = getattr(op.kernel, "__module__", None) or ""
    return module.startswith(SILENT_MODULES) and op.name != "matmul"


def note_silent_op(op: Any, x: int, y: int, out: Any) -> None:
    """`note_op` for an op whose kernel raises no floating-point flags."""
    if ledger.checks is not None:
        ledger.checks.on_result(op, out)
    note_partial_op(op, x, y, out)


def note_partial_op(op: Any, x: int, y: int, out: Any) -> None:
    """`note_op` for an op that lacks a rule: the dtype of the result matters, too."""
    ledger.kinds[abs(out.uid)] = out._array.dtype.kind
    append_entry((x, y, out.uid, op, *user_location(3), current_moment()))


def note_bind(op: Any, args: Any, outs: Any) -> None:
    """Write that `op` made the tensors `outs` of the arguments `args`."""
    inputs = tuple([getattr(a, "uid", 0) for a in args])
    if ledger.checks is not None and is_silent(op):
        ledger.checks.on_result(op, outs)
    if None in op.rules:
        for one in outs if type(outs) is tuple else (outs,):
            ledger.kinds[abs(one.uid)] = one._array.dtype.kind
    uids = tuple([o.uid for o in outs]) if type(outs) is tuple else outs.uid
    append_entry((op, inputs, uids, *user_location(2), current_moment()))


def write(kind: Any, inputs: Any, outputs: Any) -> None:
    """Write an entry located at the innermost user frame."""
    if not ledger.full:
        return
    code, instruction = user_location(2)
    ledger.entries.append((kind, inputs, outputs, code, instruction, current_moment()))


def add_version(variable: Any, found: dict[Any, None]) -> None:
    """Add the uid of the current version of a variable, unless it is not complete yet."""
    version = version_of(variable)
    if version is not None:
        found[version.uid] = None


def version_of(variable: Any) -> Any:
    """The current version of a variable, in a trace the trace's; nothing is captured."""
    recorders = local.recorders
    if recorders and recorders[0].is_trace:
        state = recorders[0].versions.states.get(getattr(variable, "_key", None))
        if state is not None:
            return state.newest
    return getattr(variable, "__dict__", {}).get("_value")


def note_departure(tensor: Any, kind: str, value: Any) -> None:
    """Write that the value of `tensor` left the tensors; `kind` is "numpy" or "python"."""
    if ledger.checks is not None:
        ledger.checks.on_departure(tensor)
    if not ledger.full:
        return
    if kind == "numpy" and is_inside_library():
        return
    number = next_uid()
    write(("left", kind, list_user_calls()), (tensor.uid,), number)
    try:
        reference = weakref.ref(value)
    except TypeError:  # a Python number or a NumPy scalar
        return
    ledger.left[id(value)] = (reference, number)


def list_user_calls() -> tuple[tuple[CodeType, int], ...]:
    """Locations of the user's frames on the stack, innermost first."""
    found: list[tuple[CodeType, int]] = []
    frame: FrameType | None = sys._getframe(3)
    while frame is not None and len(found) < MAX_FRAMES:
        if USER_FILES[frame.f_code.co_filename]:
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def is_inside_library() -> bool:
    """Whether the library itself asked for an array, in a function that a birth describes."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(LIBRARY):
            return False
        if not filename.startswith(WAYS_OUT):
            return True
        frame = frame.f_back
    return False


def note_read(version: Any, tensor: Any) -> None:
    """Write that a variable was read without recorders."""
    write("read", (version.uid,), tensor.uid)


def note_call(saved: Any, results: list[Any], written: list[Any]) -> None:
    """Write that a compiled function ran along a path; the graph is expanded on request."""
    if ledger.checks is not None:
        ledger.checks.on_call(saved, results, written)
    path, uids = saved.path, tuple([t.uid for t in saved.inputs])
    versions = tuple([v._stored_version().uid for v in written])
    write(("call", path), uids, tuple([t.uid for t in results]) + versions)


def note_custom(inputs: list[Any], results: list[Any], outs: list[Any], step: Any) -> None:
    """Write a call of a function with a custom gradient; `step` computes the gradient."""
    fact = ("custom", weakref.ref(step), user_code_of(step.grad))
    uids = tuple([t.uid for t in inputs]), tuple([t.uid for t in results])
    write(fact, uids, tuple([t.uid for t in outs]))


def note_element(dataset: Any, tensors: list[Any]) -> None:
    """Write that `tensors` came out of a dataset."""
    uid = getattr(dataset, "_origin_uid", 0)
    write(("element", ""), (uid,), tuple([t.uid for t in tensors]))


class TapeHistory:
    """What happened to a tape or an accumulator.

    Attributes:
        watches_variables: whether trainable variables that are read are watched.
        kind: "GradientTape" or "ForwardAccumulator".
        watches_all: whether every tensor is watched, as by `tf.gradients`.
    """

    def __init__(self, kind: str, watches_variables: bool) -> None:
        """Start empty."""
        self.kind = kind
        self.watches_variables = watches_variables
        self.watches_all = False


def note_tape(tape: Any, event: str, payload: Any = None) -> None:
    """Write an event of a tape: made, enter, exit, pause, resume, reset, watch."""
    if not ledger.full:
        return
    history = tape.__dict__.get("_history")
    if history is None:
        history = tape._history = TapeHistory(
            type(tape).__name__, getattr(tape, "_watch_accessed_variables", True)
        )
    write(("tape", event, history), payload, 0)


def note_trace_tape(tape: Any, record: Any) -> None:
    """Write that a tape was made from everything that a trace has recorded in `record`."""
    if not ledger.full:
        return
    note_tape(tape, "enter", serial_of(record))
    tape._history.watches_all = True


def as_tensor(value: Any) -> Any:
    """A tensor, or the current version of a variable; None for anything else."""
    if hasattr(value, "uid"):
        return value
    variable = getattr(value, "_target_variable", None)
    return None if variable is None else version_of(variable)


def note_gradients(targets: list[Any], roots: Any, results: Any) -> None:
    """Write that a tape made gradients of targets with respect to sources."""
    if not ledger.full:
        return
    inputs = [t.uid for t in map(as_tensor, targets) if t is not None]
    inputs += [uid for uids, _ in roots for uid in uids]
    made = [as_tensor(getattr(r, "values", r)) for r in results if r is not None]
    outs = tuple([t.uid for t in made if t is not None])
    write(("birth", "gradient"), tuple(inputs), outs)


def note_lost(tape: Any, targets: list[Any], key: int | None, uids: Any) -> None:
    """Write that a gradient is None; `key` is that of the source, if it is a variable."""
    if not ledger.full:
        return
    if not hasattr(tape, "_history"):
        note_tape(tape, "made")
    found = tuple([t.uid for t in map(as_tensor, targets) if t is not None])
    write(("lost", tape._history), found, (tuple(uids), key))
    ledger.lost.append(ledger.entries[-1])
    for observe in ledger.loss_observers:
        observe()


def enter_scope() -> None:
    """Note which function of the library changes the recorders; `use_recorders` restores them."""
    names = []
    frame: FrameType | None = sys._getframe(2)
    for _ in range(MAX_FRAMES):
        if frame is None or USER_FILES[frame.f_code.co_filename]:
            break
        if frame.f_code.co_filename.startswith(LIBRARY):
            code = frame.f_code
            names.append(f"{code.co_filename[len(LIBRARY) :]}:{code.co_name}")
        frame = frame.f_back
    location = (None, -1) if frame is None else (frame.f_code, frame.f_lasti)
    local.scopes = (*local.scopes, (tuple(names), location))
    local.moment = None
    NOW[:] = None, None
