"""Functions that are specialised copies of `template.py`, made on their first call.

Eager programs spend most of their time in them. `make_primitive_function` makes the function of a
primitive and `make_public_function` a public elementwise function. Specialising and compiling on
the first call keeps the import fast.
"""

from __future__ import annotations

import builtins
import inspect
import os
import re
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.core.context import hand_watched_count, local, next_uid
from gradtape.core.dispatch import (
    TapeRecord,
    backward_step,
    bind,
    explain_kernel_error,
    record_op,
    residuals_of,
)
from gradtape.core.errors import REDISPATCH, redispatch
from gradtape.core.fastpath.kernel_source import (
    FLOAT32,
    SCALAR_CACHE,
    kernel_expression,
)
from gradtape.core.fastpath.reference import make_reference_primitive, make_reference_public
from gradtape.core.fastpath.specialise import compile_template, find_template
from gradtape.core.generated_code import REFERENCE
from gradtape.core.identifier import check_identifier
from gradtape.core.ledger import (
    is_silent,
    ledger,
    note_bind,
    note_op,
    note_partial_op,
    note_silent_op,
)
from gradtape.core.ports import DevicePort, TapePort, devices
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor, mark_recorded
from gradtape.core.traceback_filter import hide_library_frames

TEMPLATE_FILE = os.path.join(os.path.dirname(__file__), "template.py")
INPUT_NAMES = ("x", "y", "z")  # names of the inputs in templates
# Names of templates that a static parameter would hide
RESERVED_NAMES = frozenset(
    ("x", "y", "z", "x_", "y_", "z_", "r", "out", "uid", "record", "error", "op", "kernel")
)


def make_primitive_function(op: Primitive) -> Any:
    """Make the function of a primitive: the kernel on raw arrays, inlined `bind` on tensors."""
    form = None if REFERENCE else primitive_template_name(op)
    if form is None:
        function = make_reference_primitive(op)
    else:
        function = specialise_on_first_call(op, form, op.inputs)
    if not op.variadic:
        function.__wrapped__ = op.kernel  # for its signature
    return function


def primitive_template_name(op: Primitive) -> str | None:
    """The template of a primitive; None if none fits, and the readable function is used."""
    count = len(op.inputs)
    if op.variadic or count > 3 or not RESERVED_NAMES.isdisjoint(op.statics):
        return None
    if op.outputs:
        return "primitive_outputs" if count == 1 and op.rules[0] is not None else None
    return ("primitive_one", "primitive_two", "primitive_three")[count - 1]


def make_public_function(
    op: Primitive,
    allowed: frozenset[Any],
    convert_and_call: Callable[..., Any],
    names: tuple[str, ...] = ("x", "y"),
    reflected: bool = False,
    numbers: tuple[bool, bool] = (True, True),
) -> Any:
    """Make a public elementwise function of one or two tensors, with TensorFlow's dtype checks.

    Args:
        op: the primitive.
        allowed: the dtypes that the function takes.
        convert_and_call: converts the arguments, or raises. It handles every call that is not one
            tensor, two tensors of one dtype, or a tensor and a Python number.
        names: the parameters of the function.
        reflected: whether to swap the operands, for methods such as `__rsub__`.
        numbers: for each operand, whether the kernel takes a Python number.
    """
    names = names[: len(op.inputs)]
    order = tuple(reversed(names)) if reflected else names
    weak = weak_dtypes_of(allowed)
    signature = public_signature_of(order)
    if REFERENCE:
        reference = make_reference_public(
            op, allowed, weak, convert_and_call, names, numbers, signature
        )
        reference.__signature__ = signature
        return reference
    function = specialise_on_first_call(
        op,
        "unary" if len(names) == 1 else "binary",
        names,
        reflected=reflected,
        numbers=numbers,
        allowed=allowed,
        convert_and_call=convert_and_call,
        weak=weak,
    )
    function.__signature__ = signature
    return function


@cache
def weak_dtypes_of(allowed: frozenset[Any]) -> dict[type, frozenset[Any]]:
    """Dtypes that NumPy keeps next to a Python number; bfloat16 would become float32."""
    builtin = frozenset(d for d in allowed if d.kind in "fc" and d.num < 64)
    return {float: builtin, int: builtin | {d for d in allowed if d.kind in "iu"}}


@cache
def public_signature_of(names: tuple[str, ...]) -> inspect.Signature:
    """The signature of a public elementwise function."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    return inspect.Signature([*parameters, inspect.Parameter("name", kind, default=None)])


def flags_of(op: Primitive, numbers: tuple[bool, bool], single: bool) -> dict[str, bool]:
    """The flags of the templates for `op`, with the state of the devices."""
    rules = [rule is not None for rule in op.rules] + [False] * 3
    return {
        "X_RULE": rules[0],
        "Y_RULE": rules[1],
        "Z_RULE": rules[2],
        "HAS_RULES": any(rules),
        "X_NUMBER": numbers[0],
        "Y_NUMBER": numbers[1],
        "SINGLE": single,
        "DEVICES": devices.active,
        "EXPLAIN": ledger.active,
    }


def template_text(
    op: Primitive, form: str, reflected: bool, numbers: tuple[bool, bool], single: bool
) -> str:
    """The text of a template for `op`."""
    text = find_template(TEMPLATE_FILE, form).resolve(flags_of(op, numbers, single))
    if reflected:
        text = swap_operands(text)
    count = len(op.inputs)
    inputs, raws = INPUT_NAMES[:count], tuple(f"{name}_" for name in INPUT_NAMES[:count])
    names, raw_names = ", ".join(inputs), ", ".join(raws)
    text = text.replace(f"def {form}(", f"def {op.name}(")
    text = text.replace(f"kernel({raw_names})", kernel_expression(op, raws))
    if form.startswith("primitive"):
        text = text.replace(f"kernel({names})", kernel_expression(op, inputs))
        text = text.replace(
            ", **STATIC", "".join([", *", *(f", {n}" for n in op.statics)]) if op.statics else ""
        )
        text = text.replace("STATIC", statics_source(op))
    if "entry(" in text:
        text = text.replace("BROADCASTS", broadcast_condition(op))
        for mask in range(1, 1 << min(count, 2)):
            for unbroadcast in (False, True):
                option = ", unbroadcast=True" if unbroadcast else ""
                call = f"entry({mask}, {raw_names}{option})"
                text = text.replace(call, entry_expression(op, mask, unbroadcast))
    return text


def swap_operands(text: str) -> str:
    """Swap the operands in the signature of `binary` and in its calls of itself."""
    text = text.replace("def binary(x, y,", "def binary(y, x,")
    text = text.replace("call_again(x._read(), y)", "call_again(y, x._read())")
    text = text.replace("call_again(x, y._read())", "call_again(y._read(), x)")
    return text.replace("call_again, (x, y)", "call_again, (y, x)")


def broadcast_condition(op: Primitive) -> str:
    """The condition that an operand of two was broadcast in front of the core axes."""
    if op.core_ndim is None or len(op.inputs) < 2:
        return "False"
    if op.core_ndim == 0:
        return "type(r) is ndarray and x_.shape != y_.shape"
    front = f"[:-{op.core_ndim}]"
    return f"r.ndim > {op.core_ndim} and x_.shape{front} != y_.shape{front}"


def entry_expression(op: Primitive, mask: int, unbroadcast: bool) -> str:
    """The tuple that records the op for the inputs in `mask`: step, uids, residuals."""
    watched = [i for i in range(len(op.inputs)) if mask >> i & 1]
    if any(op.rules[i] is None for i in watched) or (unbroadcast and op.core_ndim is None):
        return "None"  # in a block that never runs
    step = f"step{mask}{'f' if unbroadcast else ''}"
    parts = [f"{step} or cache_step({mask}, {unbroadcast})"]
    parts += [f"{INPUT_NAMES[i]}.uid" for i in watched]
    parts += [residual_expression(op, name) for name in residuals_of(op, mask, unbroadcast)]
    return f"({', '.join(parts)})"


def residual_expression(op: Primitive, name: str) -> str:
    """Expression for a residual in a template."""
    if name == "out" or name in op.statics:
        return name
    if name in op.inputs:
        return INPUT_NAMES[op.inputs.index(name)]
    what, _, kind = name.rpartition("_")
    raw = "r" if what == "out" else f"{INPUT_NAMES[op.inputs.index(what)]}_"
    if kind == "shape":
        return f"{raw}.shape"
    if what == "out" and op.outputs:
        return "tuple([Spec((one.shape, one.dtype)) for one in r])"
    return f"Spec(({raw}.shape, {raw}.dtype))"


def first_call_stub(*args: Any, **kwargs: Any) -> Any:
    """Code of a function before its first call: calls `make` of the function's namespace."""
    space = globals()
    try:
        return space["make"]()(*args, **kwargs)
    except Exception as error:
        space["hide_library_frames"](error)
        raise


GENERATED: list[Any] = []  # functions whose code is a specialised template


def regenerate() -> None:
    """Specialise every function again on its next call, after a flag has changed."""
    while GENERATED:
        function = GENERATED.pop()
        function.__code__ = first_call_stub.__code__  # first: it takes any arguments
        function.__defaults__ = function.__kwdefaults__ = None


def readable_text(text: str, names: tuple[str, ...]) -> str:
    """A specialised text without blank lines, with the op's own names for x, y and z."""
    renamed = dict(zip(INPUT_NAMES, names, strict=False))
    text = re.sub(r"\n\n+", "\n", text)
    return re.sub(
        r"\b([xyz])(_|_uid|_shape|_rule)?\b",
        lambda m: renamed.get(m[1], m[1]) + (m[2] or ""),
        text,
    )


devices.observers.append(regenerate)
ledger.observers.append(regenerate)

SHARED_GLOBALS: dict[str, Any] = {
    "__name__": "gradtape.core.fastpath.template",
    "__builtins__": builtins,  # NumPy imports modules through it
    "EagerTensor": EagerTensor,
    "FLOAT32": FLOAT32,
    "DevicePort": DevicePort,
    "TapePort": TapePort,
    "TapeRecord": TapeRecord,
    "SCALAR_CACHE": SCALAR_CACHE,
    "Spec": Spec,
    "Tensor": Tensor,
    "REDISPATCH": REDISPATCH,
    "hand_watched_count": hand_watched_count,
    "redispatch": redispatch,
    "bind": bind,
    "float32": np.float32,
    "record_op": record_op,
    "hide_library_frames": hide_library_frames,
    "local": local,
    "mark_recorded": mark_recorded,
    "ndarray": np.ndarray,
    "next_uid": next_uid,
    "note_bind": note_bind,
    "explain_kernel_error": explain_kernel_error,
    "make_tensor": make_tensor,
}


@cache
def initial_globals(inputs: int) -> dict[str, Any]:
    """Globals of the function of a primitive with this number of inputs; steps are not made yet."""
    steps = {f"step{mask}{f}": None for mask in range(1, 1 << inputs) for f in ("", "f")}
    return SHARED_GLOBALS | steps


def specialise_on_first_call(
    op: Primitive,
    form: str,
    names: tuple[str, ...],
    reflected: bool = False,
    numbers: tuple[bool, bool] = (False, False),
    **extra: Any,
) -> Any:
    """Make a function whose code is a copy of the template `form`, made on the first call.

    Args:
        op: the primitive.
        form: the name of the template.
        names: the parameters that are called x, y and z in the template.
        reflected: whether to swap the first two operands.
        numbers: for each operand, whether the kernel takes a Python number.
        **extra: further globals of the function.
    """
    space = {**initial_globals(len(op.inputs)), "op": op, "kernel": op.ufunc or op.kernel, **extra}
    function = FunctionType(first_call_stub.__code__, space, op.name)
    function.__qualname__ = op.name

    def text() -> str:
        return template_text(op, form, reflected, numbers, FLOAT32 in extra.get("allowed", ()))

    def source() -> str:
        return readable_text(text(), names)

    def make() -> Any:
        for name in (op.name, *op.inputs, *op.statics):
            check_identifier(name)
        before = (devices.active, ledger.active)
        real = compile_template(find_template(TEMPLATE_FILE, form), text(), rename_inputs(names))
        function.__defaults__ = real.__defaults__
        function.__kwdefaults__ = real.__kwdefaults__
        function.__code__ = real.__code__
        GENERATED.append(function)
        return function if (devices.active, ledger.active) == before else make()

    def cache_step(mask: int, unbroadcast: bool) -> Any:
        step = space[f"step{mask}{'f' if unbroadcast else ''}"] = backward_step(
            op, mask, unbroadcast
        )
        return step

    space["note_op"] = (
        note_silent_op if is_silent(op) else note_partial_op if None in op.rules else note_op
    )
    space |= {"call_again": function, "make": make, "source": source, "cache_step": cache_step}
    return function


def rename_inputs(names: tuple[str, ...]) -> dict[str, str]:
    """The names of the variables of a template that is used with other names for its inputs."""
    pairs = list(zip(INPUT_NAMES, names, strict=False))
    return dict(pairs) | {f"{short}_": f"{name}_" for short, name in pairs}


def statics_source(op: Primitive) -> str:
    """Source of a dict with the static parameters."""
    return "{" + ", ".join(f"'{name}': {name}" for name in op.statics) + "}"
