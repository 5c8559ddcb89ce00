"""Accelerators: which there are, and how kernels run on them, one by one.

JAX is asked only where it may know of one: if a plugin for it is installed, or its further host
devices are to stand in (`stand_in`). Nothing here changes a setting of JAX's.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from gradtape.compile.xla.kernel_namespace import cloned, is_there, kernel_of
from gradtape.core.device.array import Device, Engine, Remote, arrived
from gradtape.core.device.placement import Inexpressible, Placement
from gradtape.core.errors import InternalError, ResourceExhaustedError
from gradtape.core.primitive import Primitive

KINDS = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}  # TensorFlow's, by JAX's names


class Found:
    """What there is.

    Attributes:
        devices: all accelerators, or None as long as nobody asked.
        visible: those that may be used; None: all.
        fixed: whether somebody has used one, so that it is too late to choose.
        stand_ins: the kind that JAX's further host devices stand in for, or None.
    """

    devices: ClassVar[list[Device] | None] = None
    visible: ClassVar[list[Device] | None] = None
    fixed: ClassVar[bool] = False
    stand_ins: ClassVar[str | None] = None


def stand_in(kind: str | None = "GPU") -> None:
    """Let JAX's further host devices stand in for accelerators, to try programs without one.

    The environment variable GRADTAPE_STAND_IN does the same. JAX has more than one host device if
    XLA_FLAGS=--xla_force_host_platform_device_count=N was set before it started: then there are
    N - 1 stand-ins.

    Args:
        kind: "GPU", "TPU", or None for no stand-ins.

    Raises:
        ValueError: if it is another.
        RuntimeError: if accelerators are in use already.
    """
    if kind not in ("GPU", "TPU", None):
        raise ValueError(f"stand_in: kind must be 'GPU', 'TPU' or None. Received {kind!r}.")
    if Found.fixed:
        raise RuntimeError("stand_in: accelerators are in use already. Call it first.")
    Found.stand_ins = kind or ""
    Found.devices = Found.visible = None


def accelerators() -> list[Device]:
    """All there are, in order of kind and number."""
    if Found.devices is None:
        Found.devices = looked_for() if may_be_there() else []
    return Found.devices


def visible() -> list[Device]:
    """Those that may be used."""
    return accelerators() if Found.visible is None else Found.visible


def choose(devices: list[Device]) -> None:
    """Make these, and no others, visible.

    Raises:
        RuntimeError: if others are in use already.
    """
    if devices == visible():
        return
    if Found.fixed:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    Found.visible = devices
    counts: dict[str, int] = {}
    for device in devices:
        device.number = counts[device.kind] = counts.get(device.kind, -1) + 1


def usable() -> list[Device]:
    """Those that are visible; from now on it cannot be chosen which."""
    Found.fixed = True
    return visible()


def find(kind: str, number: int) -> Device | None:
    """The visible device of this kind and number."""
    chosen = [device for device in usable() if device.kind == kind]
    return chosen[number] if number < len(chosen) else None


def default() -> Device:
    """The device of ops on values of accelerators, where none is asked for."""
    return usable()[0]


def stand_ins_wanted() -> str:
    """The kind of device that stand-ins count as, or nothing."""
    if Found.stand_ins is None:
        kind = os.environ.get("GRADTAPE_STAND_IN", "").upper()
        if kind not in ("", "GPU", "TPU"):
            raise ValueError(f"GRADTAPE_STAND_IN must be GPU or TPU. It is {kind!r}.")
        Found.stand_ins = kind
    return Found.stand_ins


def may_be_there() -> bool:
    """Whether it is worth the time to import JAX: without a plugin it has a CPU alone."""
    if not is_there():
        return False
    if stand_ins_wanted() or "jax" in sys.modules:
        return True
    if os.environ.get("JAX_PLATFORMS", "").split(",") == ["cpu"]:
        return False
    if find_spec("jax_plugins") or find_spec("libtpu"):
        return True
    from importlib.metadata import entry_points

    return bool(entry_points(group="jax_plugins"))


def looked_for() -> list[Device]:
    """Ask JAX."""
    import jax

    handles = [(KINDS[d.platform], d) for d in jax.local_devices() if d.platform in KINDS]
    stands_for = stand_ins_wanted()
    if stands_for:
        handles += [(stands_for, d) for d in jax.local_devices(backend="cpu")[1:]]
    counts: dict[str, int] = {}
    devices = []
    for kind, handle in handles:
        devices.append(Device(kind, counts.get(kind, 0), handle))
        counts[kind] = counts.get(kind, 0) + 1
    return devices


# -- values


def put(value: Any, device: Device) -> Any:
    """A host value, or a copy on another device, as JAX's array on `device`."""
    import jax

    with jax.enable_x64(True):
        return guarded(jax.device_put, value, device.handle)


def fetch(array: Any) -> Any:
    """JAX's array as a raw one, which cannot be written to; waits for it."""
    raw = guarded(np.asarray, array)
    return raw if raw.shape else raw[()]


def guarded(function: Callable[..., Any], *args: Any) -> Any:
    """Call JAX; what goes wrong on the device comes out as TensorFlow's error."""
    import jax

    try:
        return function(*args)
    except jax.errors.JaxRuntimeError as error:
        kind = ResourceExhaustedError if "RESOURCE_EXHAUSTED" in str(error) else InternalError
        raise kind(str(error)) from error


# -- kernels


def run(op: Primitive, raws: tuple[Any, ...], static: dict[str, Any], device: Device) -> Any:
    """Run the kernel of a primitive, compiled, on a device.

    Raises:
        Inexpressible: if JAX cannot run it.
    """
    results = called(program_of(op, static), raws, device)
    if op.outputs:
        return tuple([arrived(array, device) for array in results])
    return arrived(results, device)


def call(function: Callable[..., Any], raws: list[Any], device: Device) -> Any:
    """Run a function of raw arrays and Python values, compiled, on a device.

    Raises:
        Inexpressible: if JAX cannot run it.
    """
    lowered = cloned(function)
    if lowered is function:
        raise Inexpressible("it is a function of NumPy arrays")
    places = [i for i, raw in enumerate(raws) if isinstance(raw, Remote | np.ndarray | np.generic)]

    def program(*given: Any) -> Any:
        args = [cloned(raw) if type(raw) is FunctionType else raw for raw in raws]
        for i, value in zip(places, given, strict=True):
            args[i] = value
        return lowered(*args)

    rest = [None if i in places else raw for i, raw in enumerate(raws)]
    program = compiled((function, *places), rest, program)
    results = called(program, tuple([raws[i] for i in places]), device)
    if isinstance(results, tuple):
        return tuple([arrived(array, device) for array in results])
    return arrived(results, device)


def called(program: Any, raws: tuple[Any, ...], device: Device) -> Any:
    """Results of a compiled function, on a device."""
    import jax

    from gradtape.compile.xla.lowering import settings

    given = [operand(raw, device) for raw in raws]
    try:
        with settings():
            if any(isinstance(a, jax.Array) for a in given):
                return program(*given)
            with jax.default_device(device.handle):
                return program(*given)
    except jax.errors.JaxRuntimeError as error:
        kind = ResourceExhaustedError if "RESOURCE_EXHAUSTED" in str(error) else InternalError
        raise kind(str(error)) from error
    except Exception as error:
        raise Inexpressible(str(error).strip().partition("\n")[0]) from error


def operand(raw: Any, device: Device) -> Any:
    """An operand on a device; Python numbers stay as they are."""
    if type(raw) is Remote:
        return raw.on(device)
    return put(raw, device) if isinstance(raw, np.ndarray | np.generic) else raw


def program_of(op: Primitive, static: dict[str, Any]) -> Any:
    """The kernel with these static parameters; compiled by JAX for each shape it meets."""
    return compiled((op.name,), list(static.items()), functools.partial(kernel_of(op), **static))


def compiled(name: tuple[Any, ...], static: list[Any], function: Callable[..., Any]) -> Any:
    """What JAX compiles; the same as the last time for the same name and static values."""
    import jax

    try:
        key = (name, identified(static))
    except TypeError:
        return function
    program = PROGRAMS.pop(key, None)
    if program is None:
        program = jax.jit(function)
        while len(PROGRAMS) >= MOST_PROGRAMS:
            PROGRAMS.pop(next(iter(PROGRAMS)), None)
    PROGRAMS[key] = program  # the one used longest ago comes first
    return program


PROGRAMS: dict[Any, Any] = {}
MOST_PROGRAMS = 4096
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def identified(value: Any) -> Any:
    """Something hashable that is equal only for the same static value.

    Raises:
        TypeError: if there is no such.
    """
    if type(value) in PLAIN:
        return (type(value), repr(value))
    if type(value) in (tuple, list):
        return (type(value), *map(identified, value))
    if type(value) is slice:
        return (slice, *map(identified, (value.start, value.stop, value.step)))
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        return (type(value), value.shape, value.dtype, value.tobytes())
    if isinstance(value, np.dtype | type) or callable(value):
        return value
    raise TypeError(f"cannot be told from another: {value!r}")


def ufunc(name: str, raws: tuple[Any, ...], device: Device) -> Any:
    """What a function of NumPy's makes of values on a device; None if JAX cannot say."""
    import jax
    import jax.numpy as jnp

    function = getattr(jnp, name, None)
    if function is None:
        return None
    if name not in UFUNCS:
        UFUNCS[name] = jax.jit(function)
    try:
        result = called(UFUNCS[name], raws, device)
    except Inexpressible:
        return None
    if isinstance(result, tuple):
        return tuple([arrived(array, device) for array in result])
    return arrived(result, device)


UFUNCS: dict[str, Any] = {}

Engine.put = put
Engine.fetch = fetch
Engine.ufunc = ufunc
Engine.find = find
Engine.default = default
Placement.run = run
Placement.call = call
