"""Generated code that does what `dispatch.bind` does, for one or two eager tensors.

Eager programs spend most of their time here. `make_primitive_function` makes the function of a
primitive and `make_public_function` a public elementwise function. Their source is generated and
compiled on the first call, which keeps the import fast.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from gradtape.core.context import hand_watched_count, local, next_uid
from gradtape.core.device.switch import THEN, in_use
from gradtape.core.dispatch import (
    BackwardStep,
    TapePort,
    TapeRecord,
    backward_step,
    bind,
    explain_kernel_error,
    record_op,
    residuals_of,
)
from gradtape.core.errors import REDISPATCH, hide_library_frames, redispatch
from gradtape.core.fastpath.kernel_source import (
    FLOAT32,
    SCALAR_CACHE,
    as_operand,
    kernel_arguments,
    kernel_expression,
    ufunc_or_kernel,
)
from gradtape.core.identifier import check_identifier
from gradtape.core.primitive import Primitive, Spec
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor, mark_recorded


def make_primitive_function(op: Primitive) -> Any:
    """Make the function of a primitive: the kernel on raw arrays, inlined `bind` on tensors."""
    if op.variadic:
        return make_variadic_function(op)
    function = generate_on_first_call(op, lambda: primitive_source(op))
    function.__wrapped__ = op.kernel  # for its signature
    return function


def make_variadic_function(op: Primitive) -> Any:
    """Make the function of a primitive with `*inputs`."""
    kernel = op.kernel

    def function(*args: Any, **static: Any) -> Any:
        for a in args:
            if isinstance(a, Tensor):
                return bind(op, args, static)
        return TapePort.run_kernel_raw(op, args, static) if in_use[0] else kernel(*args, **static)

    return function


def primitive_source(op: Primitive) -> list[str]:
    """Source of the function of a primitive."""
    signature = ", ".join([*op.inputs, *(["*", *op.statics] if op.statics else [])])
    some_tensor = " or ".join(f"isinstance({name}, Tensor)" for name in op.inputs)
    args = ", ".join(op.inputs) + ","
    general = [
        f"    if {some_tensor}:",
        f"        return bind(op, ({args}), {statics_source(op)})",
        f"    return TapePort.run_kernel_raw(op, ({args}), {statics_source(op)})"
        if in_use[0]
        else f"    return {kernel_expression(op, op.inputs)}",
    ]
    lines = [f"def {op.name}({signature}):"]
    if op.outputs and len(op.inputs) == 1 and op.rules[0] is not None:
        return lines + multi_output_source(op) + general
    if op.outputs or sum(rule is not None for rule in op.rules) > 2:
        return lines + general
    raws = tuple(f"{name}_" for name in op.inputs)
    return [
        *lines,
        f"    if {' and '.join(map(eager_condition, op.inputs))}:",
        *(f"        {name}_ = {name}._array" for name in op.inputs),
        "        try:",
        f"            r = {kernel_expression(op, raws)}",
        "        except Exception as error:",
        f"            r = explain_kernel_error(error, op, ({', '.join(raws)},), "
        f"{statics_source(op)})",
        *indent(2, record_source(op, op.inputs, raws)),
        *general,
    ]


def multi_output_source(op: Primitive) -> list[str]:
    """Source of the function of a primitive with one input and several outputs."""
    name, raw = op.inputs[0], f"{op.inputs[0]}_"
    kept = ", ".join(residual_expressions(op, 1, False, op.inputs, (raw,)))
    return [
        f"    if {eager_condition(name)}:",
        f"        {raw} = {name}._array",
        "        try:",
        f"            r = kernel({kernel_arguments(op, (raw,))})",
        "        except Exception as error:",
        f"            r = explain_kernel_error(error, op, ({raw},), {statics_source(op)})",
        "        out = tuple([make_tensor(one) for one in r])",
        f"        if {name}.uid < 0 or hand_watched_count[0]:",
        "            for record in local.recorders:",
        "                if type(record) is not TapeRecord:",
        "                    if record.is_trace:",
        f"                        return bind(op, ({name},), {statics_source(op)})",
        f"                    record_op(record, op, ({name},), ({raw},), {statics_source(op)}, "
        "out, r)",
        f"                elif {name}.uid in record:",
        "                    anchor = next_uid()",
        f"                    record[anchor] = (step1 or cache_step(1, False), {name}.uid, {kept})",
        "                    for i, one in enumerate(out):",
        "                        record[mark_recorded(one)] = "
        "(TapePort.route_cotangent, anchor, i)",
        "        return out",
    ]


def eager_condition(name: str) -> str:
    """Condition for the fast path: an eager tensor on the host, outside of any `tf.device`."""
    return f"type({name}) is EagerTensor" + (" and local.device is None" if in_use[0] else "")


def residual_expressions(
    op: Primitive, mask: int, unbroadcast: bool, names: tuple[str, ...], raws: tuple[str, ...]
) -> list[str]:
    """Expressions for the residuals of the inputs in `mask`."""
    parts = []
    for need in residuals_of(op, mask, unbroadcast):
        if need == "out" or need in op.statics:
            parts.append(need)
        elif need in op.inputs:
            parts.append(names[op.inputs.index(need)])
        else:
            what, _, kind = need.rpartition("_")
            raw = "r" if what == "out" else raws[op.inputs.index(what)]
            if kind == "shape":
                parts.append(f"{raw}.shape")
            elif what == "out" and op.outputs:
                parts.append("tuple([Spec((one.shape, one.dtype)) for one in r])")
            else:
                parts.append(f"Spec(({raw}.shape, {raw}.dtype))")
    return parts


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
    single = FLOAT32 in allowed
    function = generate_on_first_call(
        op,
        lambda: public_source(op, names, order, numbers, single),
        allowed=allowed,
        convert_and_call=convert_and_call,
        weak=weak_dtypes_of(allowed),
    )
    function.__signature__ = public_signature_of(order)
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


def public_source(
    op: Primitive,
    names: tuple[str, ...],
    order: tuple[str, ...],
    numbers: tuple[bool, bool],
    single: bool,
) -> list[str]:
    """Source of a public elementwise function; `single` if it takes float32."""
    raws = tuple(f"{name}_" for name in names)
    x, x_ = names[0], raws[0]

    def admits(raw: str, dtypes: str) -> str:
        # `dtype` of a NumPy scalar is slow, so its type is checked first.
        quick = f"type({raw}) is float32 or {raw}.dtype is FLOAT32 or " if single else ""
        return f"{quick}{raw}.dtype in {dtypes}"

    lines = [
        f"def {op.name}({', '.join(order)}, name=None):",
        f"    if {eager_condition(x)}:",
        f"        {x_} = {x}._array",
    ]
    if len(names) == 1:
        lines += [
            f"        if {admits(x_, 'allowed')}:",
            *indent(3, kernel_call_source(op, raws)),
            *indent(3, record_source(op, names, raws)),
        ]
    else:
        y, y_ = names[1], raws[1]
        singles = f"type({x_}) is float32 and type({y_}) is float32 or " if single else ""
        lines += [
            f"        if type({y}) is EagerTensor:",
            f"            {y_} = {y}._array",
            f"            if {singles}(",
            f"                {x_}.dtype is {y_}.dtype and ({admits(x_, 'allowed')})",
            "            ):",
            *indent(4, kernel_call_source(op, raws)),
            *indent(4, record_source(op, names, raws)),
        ]
        if numbers[1]:
            lines += [
                f"        elif (type({y}) is float or type({y}) is int) and (",
                f"            {admits(x_, f'weak[type({y})]')}",
                "        ):",
                f"            {y_} = {as_operand(y, x_, single)}",
                *indent(3, kernel_call_source(op, (x_, y_))),
                *indent(3, record_source(op, names, raws, only=0)),
            ]
        if numbers[0]:
            lines += [
                f"    elif {eager_condition(y)} and (type({x}) is float or type({x}) is int):",
                f"        {y_} = {y}._array",
                f"        if {admits(y_, f'weak[type({x})]')}:",
                f"            {x_} = {as_operand(x, y_, single)}",
                *indent(3, kernel_call_source(op, (x_, y_))),
                *indent(3, record_source(op, names, raws, only=1)),
            ]
    return [
        *lines,
        *(
            f"    if type({name}) is not EagerTensor and hasattr({name}, '_read'):\n"
            f"        return again({', '.join(f'{n}._read()' if n == name else n for n in order)})"
            for name in names
        ),
        "    try:",
        f"        return convert_and_call({', '.join(names)})",
        "    except REDISPATCH as error:",
        f"        return redispatch(error, again, ({', '.join(order)},), {{}})",
        "    except Exception as error:",
        "        hide_library_frames(error)",
        "        raise",
    ]


def kernel_call_source(op: Primitive, raws: tuple[str, ...]) -> list[str]:
    """Source that runs the kernel and hides the library's frames from errors."""
    return [
        "try:",
        f"    r = {kernel_expression(op, raws)}",
        "except Exception as error:",
        "    try:",
        f"        r = explain_kernel_error(error, op, ({', '.join(raws)},), {{}})",
        "    except Exception as final:",
        "        hide_library_frames(final)",
        "        raise",
    ]


def record_source(
    op: Primitive, names: tuple[str, ...], raws: tuple[str, ...], only: int | None = None
) -> list[str]:
    """Source that wraps `r` and records the op; `only` is the operand that is a tensor."""
    lines = [
        "out = EagerTensor()",
        "out._array = r",
        "out.uid = next_uid()",
    ]
    ruled = [i for i in range(len(names)) if op.rules[i] is not None and only in (None, i)]
    if not ruled:
        return [*lines, "return out"]
    some_marked = " or ".join(f"{names[i]}.uid < 0" for i in ruled)
    args = "".join(f"{name}, " for name in names)
    values = "".join(
        f"{raw if only in (None, i) else name}, "
        for i, (name, raw) in enumerate(zip(names, raws, strict=True))
    )
    per_record: list[str] = []
    is_broadcast = "False"
    if only is None and len(names) > 1:
        fronts = [f"{raw}.shape" + (f"[:-{op.core_ndim}]" if op.core_ndim else "") for raw in raws]
        differ = f"not ({' == '.join(fronts)})"
        if op.core_ndim == 0:
            is_broadcast = f"type(r) is ndarray and {differ}"
        elif op.core_ndim is not None:
            is_broadcast = f"r.ndim > {op.core_ndim} and {differ}"
    if len(ruled) == 1:
        i = ruled[0]
        per_record += [
            f"if {names[i]}.uid in record:",
            *indent(1, store_entry_source(op, 1 << i, names, raws, is_broadcast)),
        ]
    else:
        i, j = ruled
        per_record += [
            f"if {names[i]}.uid in record:",
            f"    if {names[j]}.uid in record:",
            *indent(2, store_entry_source(op, 1 << i | 1 << j, names, raws, is_broadcast)),
            "    else:",
            *indent(2, store_entry_source(op, 1 << i, names, raws, is_broadcast)),
            f"elif {names[j]}.uid in record:",
            *indent(1, store_entry_source(op, 1 << j, names, raws, is_broadcast)),
        ]
    return [
        *lines,
        f"if {some_marked} or hand_watched_count[0]:",
        "    for record in local.recorders:",
        "        if type(record) is not TapeRecord:",
        "            if record.is_trace:",
        f"                return bind(op, ({args}), {statics_source(op)})",
        f"            record_op(record, op, ({args}), ({values}), {statics_source(op)}, out, r)",
        *indent(2, [f"el{per_record[0]}", *per_record[1:]]),
        "return out",
    ]


def store_entry_source(
    op: Primitive, mask: int, names: tuple[str, ...], raws: tuple[str, ...], is_broadcast: str
) -> list[str]:
    """Source that stores the entry for the inputs in `mask`."""

    def entry(unbroadcast: bool) -> str:
        step = f"step{mask}{'f' if unbroadcast else ''}"
        parts = [f"{step} or cache_step({mask}, {unbroadcast})"]
        parts += [f"{name}.uid" for i, name in enumerate(names) if mask >> i & 1]
        parts += residual_expressions(op, mask, unbroadcast, names, raws)
        return f"record[uid] = ({', '.join(parts)},)"

    lines = [entry(False)]
    if is_broadcast != "False":
        lines = [f"if {is_broadcast}:", f"    {entry(True)}", "else:", f"    {entry(False)}"]
    return [
        "uid = out.uid",
        "if uid > 0:",
        "    uid = out.uid = -uid",
        *lines,
    ]


def first_call_stub(*args: Any, **kwargs: Any) -> Any:
    """Code of a function before its first call: calls `make` of the function's namespace."""
    space = globals()
    try:
        return space["make"]()(*args, **kwargs)
    except Exception as error:
        space["hide_library_frames"](error)
        raise


GENERATED: list[Any] = []  # functions with generated code


def regenerate() -> None:
    """Generate every function again on its next call, now with support for devices."""
    while GENERATED:
        function = GENERATED.pop()
        function.__defaults__ = function.__kwdefaults__ = None
        function.__code__ = first_call_stub.__code__


THEN.append(regenerate)

SHARED_GLOBALS: dict[str, Any] = {
    "__name__": __name__,
    "EagerTensor": EagerTensor,
    "FLOAT32": FLOAT32,
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
    "explain_kernel_error": explain_kernel_error,
    "make_tensor": make_tensor,
}


def generate_on_first_call(op: Primitive, source: Callable[[], list[str]], **extra: Any) -> Any:
    """Make a function whose code is generated on its first call, its steps when first used."""
    steps = {f"step{mask}{f}": None for mask in range(1, 1 << len(op.inputs)) for f in ("", "f")}
    space = {**SHARED_GLOBALS, **steps, "op": op, "kernel": ufunc_or_kernel(op.kernel), **extra}
    function = FunctionType(first_call_stub.__code__, space, op.name)
    function.__qualname__ = op.name

    def make() -> Any:
        made: dict[str, Any] = {}
        before = in_use[0]
        for name in (op.name, *op.inputs, *op.statics):
            check_identifier(name)
        exec(compile("\n".join(source()), f"<gradtape {op.name}>", "exec"), space, made)
        real = made[op.name]
        function.__defaults__ = real.__defaults__
        function.__kwdefaults__ = real.__kwdefaults__
        function.__code__ = real.__code__
        GENERATED.append(function)
        return function if in_use[0] is before else make()

    def cache_step(mask: int, unbroadcast: bool) -> BackwardStep:
        step = space[f"step{mask}{'f' if unbroadcast else ''}"] = backward_step(
            op, mask, unbroadcast
        )
        return step

    space |= {"again": function, "make": make, "cache_step": cache_step}
    return function


def statics_source(op: Primitive) -> str:
    """Source of a dict with the static parameters."""
    return "{" + ", ".join(f"'{name}': {name}" for name in op.statics) + "}"


def indent(levels: int, lines: list[str]) -> list[str]:
    """Indent source lines."""
    return ["    " * levels + line for line in lines]
