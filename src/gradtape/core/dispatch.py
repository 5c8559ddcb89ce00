"""Dispatch of a primitive: run the kernel, wrap the result, tell the recorders.

`bind` does this for any primitive; `fastpath` generates specialised copies for the common cases. A
recorder is a dict whose keys are the uids it knows. Storing an entry under the uid of an output
records the op. An entry is a flat tuple

    (step, uid of each watched input …, residuals of the rules of those inputs …)

where `step` is a `tape.step.Step`, the backward half of the op, which `TapePort.make_step` makes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.array_conversion import out_of_range_error
from gradtape.core.context import local, next_uid, update_hand_watched_count
from gradtape.core.errors import InvalidArgumentError, OpError, ResourceExhaustedError
from gradtape.core.ledger import ledger, note_bind
from gradtape.core.open_shape import assume_same_shape
from gradtape.core.ports import DevicePort, TapePort, devices
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import Tensor, mark_recorded, wrap_array

Fetcher = Callable[[Any, Any, dict[str, Any], Any, Any], Any]

# TensorFlow does not warn about 1/0 or overflow. `np.errstate` around every kernel would cost a
# microsecond. So this filter ignores NumPy's warnings from our modules, and where the user turned
# warnings into errors, `explain_kernel_error` runs the kernel again with float errors ignored.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")


NO_THREAD: dict[str, Any] = {}  # never written


class TapeRecord(dict[int, Any]):
    """The record of a tape: uid → entry of a recorded result, uid → None of a watched tensor."""

    __slots__ = (
        "__weakref__",
        "accessed",
        "roots",
        "serial",
        "thread_dict",
        "unmarked",
        "variables",
    )
    serial: int  # set by `core.ledger`
    is_trace = False  # True for a trace, which takes over ops and is always the outermost recorder

    def __init__(self, accessed: bool = True) -> None:
        """Start empty; with `accessed`, watch every trainable variable that is read."""
        self.accessed = accessed
        self.unmarked = False  # whether an unmarked tensor is watched
        self.thread_dict = NO_THREAD  # `local.__dict__` of the thread that records
        self.roots: set[int] = set()
        self.variables: dict[int, tuple[Any, dict[int, None]]] = {}

    def on_variable_read(self, variable: Any, uid: int) -> None:
        """Note that a variable is read; `uid` is its current version."""
        seen = self.variables.get(variable._key)
        if seen is None:
            if not (self.accessed and variable._trainable):
                return
            self.variables[variable._key] = (variable, {uid: None})
        else:
            seen[1][uid] = None
        if uid not in self and variable._raw_dtype.kind not in "iubO":
            self[uid] = None
            self.roots.add(uid)

    def watch(self, uid: int) -> None:
        """Watch `uid`, unless it is already recorded as a result."""
        if uid not in self:
            self[uid] = None
            self.roots.add(uid)
            if uid > 0 and not self.unmarked:
                self.unmarked = True
                update_hand_watched_count(self.thread_dict)

    def watch_variable(self, variable: Any, uid: int) -> None:
        """Watch this version of `variable`, unless it holds integers."""
        self.variables.setdefault(variable._key, (variable, {}))
        self.on_variable_read(variable, uid)


def spec_of(raw: Any) -> Any:
    """Shape and dtype of a raw array, or of each array of a tuple."""
    if type(raw) is tuple:
        return tuple([spec_of(r) for r in raw])
    return Spec((raw.shape, raw.dtype)) if hasattr(raw, "dtype") else spec_of(np.asarray(raw))


def residuals_of(op: Primitive, mask: int, unbroadcast: bool) -> tuple[str, ...]:
    """Names of the residuals that an entry stores for the inputs in `mask`, in order."""
    names: dict[str, None] = {}
    for i, rule in enumerate(op.rules):
        if rule is not None and mask >> i & 1:
            names.update(dict.fromkeys(n for n in rule.residuals if n != "i"))
            if unbroadcast:
                names[f"{op.inputs[i]}_shape"] = None
    if unbroadcast:
        names["out_shape"] = None
    if op.outputs:
        names["out_spec"] = None
    return tuple(names)


def backward_step(op: Primitive, mask: int, unbroadcast: bool) -> Any:
    """The backward step for the inputs in `mask`; it is generated on first use and cached."""
    key = (mask, unbroadcast)
    step = op.steps.get(key)
    if step is None:
        step = op.steps[key] = TapePort.make_step(op, mask, unbroadcast)
    return step


def run_kernel(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel, on the device of its operands, and raise its errors as TensorFlow's."""
    if devices.active:
        return DevicePort.run_kernel(op, raws, static)
    return run_kernel_on_host(op, raws, static)


def run_kernel_on_host(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel on NumPy and raise its errors as TensorFlow's."""
    try:
        return op.kernel(*raws, **static)
    except Exception as error:
        return explain_kernel_error(error, op, raws, static)


def explain_kernel_error(
    error: Exception, op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]
) -> Any:
    """Run the kernel again if only a float warning was raised; else raise TensorFlow's error."""
    from gradtape.core.interruption import is_from_signal_handler, is_interruption

    is_own_kernel = str(op.kernel.__module__).startswith("gradtape.")
    if is_interruption(error) if is_own_kernel else is_from_signal_handler(error):
        raise error
    if isinstance(error, RuntimeWarning | FloatingPointError):
        with np.errstate(all="ignore"):
            return op.kernel(*raws, **static)
    if isinstance(error, OpError | NotImplementedError) or type(error) is LookupError:
        raise error  # LookupError: an op inside a branch or loop has no gradient
    if isinstance(error, MemoryError):
        raise ResourceExhaustedError(f"{op.name}: {error}. Use smaller tensors or fewer.") from None
    if isinstance(error, OverflowError):
        return op.kernel(*wrap_integers(op, raws), **static)
    shapes = [np.shape(raw) for raw in raws]
    if op.core_ndim == 0 and not can_broadcast(shapes):
        listed = " vs. ".join(str(list(shape)).replace(" ", "") for shape in shapes)
        raise InvalidArgumentError(
            f"{op.name}: Incompatible shapes: {listed}. "
            "Operands must broadcast; reshape or tile one."
        ) from None
    kinds = ", ".join(f"{np.asarray(raw).dtype}{list(np.shape(raw))}" for raw in raws)
    raise InvalidArgumentError(f"{op.name}: {error}. Received {kinds}.") from error


def wrap_integers(op: Primitive, raws: tuple[Any, ...]) -> tuple[Any, ...]:
    """Wrap Python integers that exceed the integer dtype of the other operand."""
    for raw in raws:
        if isinstance(raw, int) and not -(2**63) <= raw < 2**64:
            raise ValueError(f"{op.name}: {out_of_range_error(raw)}")
    dtype = next((raw.dtype for raw in raws if not isinstance(raw, int)), None)
    if dtype is None:  # of a file: all operands are numbers
        raise InvalidArgumentError(f"{op.name}: the operands overflow. Received {raws}.")
    return tuple(np.asarray(raw).astype(dtype) if isinstance(raw, int) else raw for raw in raws)


def ignore_float_errors() -> np.errstate:
    """Context manager and decorator: NumPy ignores overflow and other float errors.

    Decorating a function with `@ignore_float_errors()` costs less per call than a `with` block.
    """
    return np.errstate(all="ignore")


def can_broadcast(shapes: list[tuple[int, ...]]) -> bool:
    """Whether arrays of these shapes broadcast together."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def bind(op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Apply `op` to tensors and raw arrays."""
    recorders = local.recorders
    if recorders and recorders[0].is_trace:
        return recorders[0].bind(op, args, static)
    raws = tuple([a._array if isinstance(a, Tensor) else a for a in args])
    result = run_kernel(op, raws, static)
    out = tuple([wrap_array(r) for r in result]) if op.outputs else wrap_array(result)
    for record in recorders:
        record_op(record, op, args, raws, static, out, result)
    if ledger.active:
        note_bind(op, args, out)
    return out


def record_op(
    record: Any,
    op: Primitive,
    args: tuple[Any, ...],
    raws: tuple[Any, ...],
    static: dict[str, Any],
    out: Any,
    result: Any,
) -> None:
    """Record an op in one recorder, if the recorder knows an input."""
    if op.record_override is not None:
        op.record_override(record, op, args, static, out)
        return
    mask = watched_mask(op, args, record)
    if not mask:
        return
    entry = make_entry(op, mask, args, raws, static, out, result)
    if op.outputs:
        anchor = next_uid()
        record[anchor] = entry
        for i, one in enumerate(out):
            record[mark_recorded(one)] = (TapePort.route_cotangent, anchor, i)
    else:
        record[mark_recorded(out)] = entry
    if type(record) is not TapeRecord:
        record.complete(out if op.outputs else (out,))


def watched_mask(op: Primitive, args: tuple[Any, ...], record: dict[int, Any]) -> int:
    """Bit mask of the inputs that `record` knows and that have a rule."""
    mask = 0
    for i, a in enumerate(args):
        if isinstance(a, Tensor) and a.uid in record and op.rule(i) is not None:
            mask |= 1 << i
    return mask


def make_entry(
    op: Primitive, mask: int, args: Any, raws: Any, static: dict[str, Any], out: Any, result: Any
) -> tuple[Any, ...]:
    """The entry that records one op."""
    uids = tuple([a.uid for i, a in enumerate(args) if mask >> i & 1])
    if op.variadic:
        step, fetchers = entry_layout_of(op, 1, False)
        args, raws = (args,), (raws,)
        head: tuple[Any, ...] = (step, uids, mask)
    else:
        unbroadcast = op.core_ndim is not None and needs_unbroadcast(op.core_ndim, raws, result)
        step, fetchers = entry_layout_of(op, mask, unbroadcast)
        head = (step, *uids)
    return head + tuple([fetch(args, raws, static, out, result) for fetch in fetchers])


def entry_layout_of(op: Primitive, mask: int, unbroadcast: bool) -> tuple[Any, list[Fetcher]]:
    """The backward step for the inputs in `mask`, and a fetcher for each of its residuals."""
    key = (mask, unbroadcast, "layout")
    layout = op.steps.get(key)
    if layout is None:
        fetchers = [make_fetcher(op, name) for name in residuals_of(op, mask, unbroadcast)]
        layout = op.steps[key] = (backward_step(op, mask, unbroadcast), fetchers)
    return layout


def make_fetcher(op: Primitive, name: str) -> Fetcher:
    """A function that picks the residual `name` out of the parts of an op."""
    if name == "out":
        return lambda args, raws, static, out, result: out
    if name in op.statics:
        return lambda args, raws, static, out, result: static[name]
    if name in op.inputs:
        i = op.inputs.index(name)
        return lambda args, raws, static, out, result: args[i]
    what, _, kind = name.rpartition("_")
    describe: Any = np.shape if kind == "shape" else spec_of
    if what == "out":
        return lambda args, raws, static, out, result: describe(result)
    i = op.inputs.index(what)
    return lambda args, raws, static, out, result: describe(raws[i])


def needs_unbroadcast(core: int, raws: tuple[Any, ...], result: Any) -> bool:
    """Whether an operand was broadcast in front of its last `core` axes."""
    end = -core or None
    front = np.shape(result)[:end]
    return not all(assume_same_shape(np.shape(raw)[:end], front) for raw in raws)
