"""Applying a primitive: evaluate the kernel, wrap the result, tell the recorders.

`bind` is the whole story, for any primitive; `fastpath` writes it out for the common cases. A
recorder is a dict: keys are the uids it knows, and storing an entry under an output's uid records
the application. An entry is a flat tuple

    (step, uid of each watched input …, what the rules of those inputs need …)

where `step(entry, g, grads)` is the backward step, which the tape layer makes (`make_step`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.context import local, next_uid, recount
from gradtape.core.device.switch import once_in_use
from gradtape.core.errors import InvalidArgumentError, OpError
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import Tensor, marked
from gradtape.core.tensor import eager as wrap

Step = Callable[[tuple[Any, ...], Any, dict[int, Any]], None]
Fetch = Callable[[Any, Any, dict[str, Any], Any, Any], Any]

# TensorFlow computes 1/0 and overflows in silence. An `np.errstate` around every kernel would cost
# a microsecond, so forward kernels run as they are: NumPy's warnings out of our modules are
# ignored, and where somebody turned them into errors the kernel runs again in silence (`recover`).
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")


class Recording(dict[int, Any]):
    """What a tape knows: uid → entry for what it computed, uid → None for what it watches."""

    __slots__ = ("__weakref__", "accessed", "home", "roots", "unmarked", "variables")
    stages = False  # a trace, always the outermost recorder, does: it takes ops over

    def __init__(self, accessed: bool = True) -> None:
        """Watch trainable variables as they are read, if `accessed`."""
        self.accessed = accessed
        self.unmarked = False  # whether an unmarked tensor is a root
        self.home: dict[str, Any] = {}  # what belongs to the thread that is recorded
        self.roots: set[int] = set()
        self.variables: dict[int, tuple[Any, dict[int, None]]] = {}

    def touch(self, variable: Any, uid: int) -> None:
        """A variable's current version `uid` is being read."""
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
        """Make `uid` a root, unless it was computed from one."""
        if uid not in self:
            self[uid] = None
            self.roots.add(uid)
            if uid > 0 and not self.unmarked:
                self.unmarked = True
                recount(self.home)

    def watch_variable(self, variable: Any, uid: int) -> None:
        """Remember this version as a root that belongs to `variable`, unless of integers."""
        self.variables.setdefault(variable._key, (variable, {}))
        self.touch(variable, uid)


class Handed:
    """What the tape layer hands down, and `placement`: how kernels run where others are in use."""

    make_step: Callable[[Primitive, int, bool], Step]
    move: Step
    evaluate: Callable[[Primitive, tuple[Any, ...], dict[str, Any]], Any]
    evaluate_raw: Callable[[Primitive, tuple[Any, ...], dict[str, Any]], Any]


def spec_of(raw: Any) -> Any:
    """Shape and dtype of a raw array; of each, for a tuple of them."""
    if type(raw) is tuple:
        return tuple([spec_of(r) for r in raw])
    return Spec((raw.shape, raw.dtype)) if hasattr(raw, "dtype") else spec_of(np.asarray(raw))


def needs_of(op: Primitive, mask: int, fold: bool) -> tuple[str, ...]:
    """Names of what an entry keeps for the inputs in `mask`, in order."""
    names: dict[str, None] = {}
    for i, rule in enumerate(op.rules):
        if rule is not None and mask >> i & 1:
            names.update(dict.fromkeys(n for n in rule.needs if n != "i"))
            if fold:
                names[f"{op.inputs[i]}_shape"] = None
    if fold:
        names["out_shape"] = None
    if op.outputs:
        names["out_spec"] = None
    return tuple(names)


def step_of(op: Primitive, mask: int, fold: bool) -> Step:
    """The backward step for the inputs in `mask`, made on first use."""
    key = (mask, fold)
    step = op.steps.get(key)
    if step is None:
        step = op.steps[key] = Handed.make_step(op, mask, fold)
    return step


def evaluate(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Run the kernel; errors come out as TensorFlow's."""
    try:
        return op.kernel(*raws, **static)
    except Exception as error:
        return recover(error, op, raws, static)


@once_in_use(evaluate)
def evaluate_somewhere(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """The same where operands may be on accelerators."""
    return Handed.evaluate(op, raws, static)


def recover(error: Exception, op: Primitive, raws: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Compute again in silence if a floating-point warning was made an error; else explain."""
    if isinstance(error, RuntimeWarning | FloatingPointError):
        with np.errstate(all="ignore"):
            return op.kernel(*raws, **static)
    if isinstance(error, OpError | NotImplementedError | MemoryError):
        raise error
    if isinstance(error, OverflowError):
        return op.kernel(*wrapped(raws), **static)
    shapes = [np.shape(raw) for raw in raws]
    if op.core == 0 and not broadcastable(shapes):
        listed = " vs. ".join(str(list(shape)).replace(" ", "") for shape in shapes)
        raise InvalidArgumentError(
            f"{op.name}: Incompatible shapes: {listed}. "
            "Operands must broadcast; reshape or tile one."
        ) from None
    kinds = ", ".join(f"{np.asarray(raw).dtype}{list(np.shape(raw))}" for raw in raws)
    raise InvalidArgumentError(f"{op.name}: {error}. Received {kinds}.") from error


def wrapped(raws: tuple[Any, ...]) -> tuple[Any, ...]:
    """Python integers that are too large for the integer array they meet, modulo its range."""
    dtype = next(raw.dtype for raw in raws if not isinstance(raw, int))
    return tuple(np.asarray(raw).astype(dtype) if isinstance(raw, int) else raw for raw in raws)


def quiet() -> Any:
    """Context manager and decorator: NumPy ignores overflow and other float errors.

    Decorating a function with `@quiet()` costs less per call than a `with` block.
    """
    return np.errstate(all="ignore")


def broadcastable(shapes: list[tuple[int, ...]]) -> bool:
    """Whether arrays of these shapes broadcast."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def bind(op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Apply `op` to tensors and raw arrays."""
    recorders = local.recorders
    if recorders and recorders[0].stages:
        return recorders[0].bind(op, args, static)
    raws = tuple([a._array if isinstance(a, Tensor) else a for a in args])
    result = evaluate(op, raws, static)
    out = tuple([wrap(r) for r in result]) if op.outputs else wrap(result)
    for known in recorders:
        hear(known, op, args, raws, static, out, result)
    return out


def hear(
    known: Any,
    op: Primitive,
    args: tuple[Any, ...],
    raws: tuple[Any, ...],
    static: dict[str, Any],
    out: Any,
    result: Any,
) -> None:
    """Tell one recorder about an application, if it knows an input."""
    if op.record is not None:
        op.record(known, op, args, static, out)
        return
    mask = watched(op, args, known)
    if not mask:
        return
    entry = entry_of(op, mask, args, raws, static, out, result)
    if op.outputs:
        anchor = next_uid()
        known[anchor] = entry
        for i, one in enumerate(out):
            known[marked(one)] = (Handed.move, anchor, i)
    else:
        known[marked(out)] = entry
    if type(known) is not Recording:
        known.complete(out if op.outputs else (out,))


def watched(op: Primitive, args: tuple[Any, ...], known: dict[int, Any]) -> int:
    """Bits of the inputs that `known` knows and that have a rule."""
    mask = 0
    for i, a in enumerate(args):
        if isinstance(a, Tensor) and a.uid in known and op.rule(i) is not None:
            mask |= 1 << i
    return mask


def entry_of(
    op: Primitive, mask: int, args: Any, raws: Any, static: dict[str, Any], out: Any, result: Any
) -> tuple[Any, ...]:
    """The record of one application."""
    uids = tuple([a.uid for i, a in enumerate(args) if mask >> i & 1])
    if op.variadic:
        step, fetchers = layout_of(op, 1, False)
        args, raws = (args,), (raws,)
        head: tuple[Any, ...] = (step, uids, mask)
    else:
        fold = op.core is not None and broadcasts(op.core, raws, result)
        step, fetchers = layout_of(op, mask, fold)
        head = (step, *uids)
    return head + tuple([fetch(args, raws, static, out, result) for fetch in fetchers])


def layout_of(op: Primitive, mask: int, fold: bool) -> tuple[Step, list[Fetch]]:
    """The step for the inputs in `mask`, and how each thing that it needs is fetched."""
    key = (mask, fold, "layout")
    layout = op.steps.get(key)
    if layout is None:
        fetchers = [fetcher_of(op, name) for name in needs_of(op, mask, fold)]
        layout = op.steps[key] = (step_of(op, mask, fold), fetchers)
    return layout


def fetcher_of(op: Primitive, name: str) -> Fetch:
    """Find what a rule calls `name` among the parts of an application."""
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


def broadcasts(core: int, raws: tuple[Any, ...], result: Any) -> bool:
    """Whether some operand was stretched in front of its `core` axes."""
    end = -core or None
    front = np.shape(result)[:end]
    return any(np.shape(raw)[:end] != front for raw in raws)
