"""Accelerators: device discovery, and running single kernels on a device.

JAX is imported only if it may have an accelerator: if a plugin is installed, or if additional host
devices stand in for accelerators (`stand_in`). This module changes no setting of JAX.
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
    """The accelerators of the process.

    Attributes:
        devices: all accelerators; None before the first query.
        visible: those that may be used; None: all.
        fixed: whether one has been used, after which the visible devices cannot change.
        stand_ins: the kind that additional host devices of JAX stand in for; "" for no stand-ins,
            None before the environment variable is read.
    """

    devices: ClassVar[list[Device] | None] = None
    visible: ClassVar[list[Device] | None] = None
    fixed: ClassVar[bool] = False
    stand_ins: ClassVar[str | None] = None


def stand_in(kind: str | None = "GPU") -> None:
    """Let additional host devices of JAX stand in for accelerators, to test programs without one.

    The environment variable GRADTAPE_STAND_IN does the same. JAX has more than one host device if
    XLA_FLAGS=--xla_force_host_platform_device_count=N was set before it started: then there are
    N - 1 stand-ins.

    Args:
        kind: "GPU", "TPU", or None for no stand-ins.

    Raises:
        ValueError: if the kind is another.
        RuntimeError: if accelerators are in use already.
    """
    if kind not in ("GPU", "TPU", None):
        raise ValueError(f"stand_in: kind must be 'GPU', 'TPU' or None. Received {kind!r}.")
    if Found.fixed:
        raise RuntimeError(
            "stand_in: must be called before an accelerator is used. One is in use already. Call "
            "stand_in at the start of the program."
        )
    Found.stand_ins = kind or ""
    Found.devices = Found.visible = None


def accelerators() -> list[Device]:
    """All accelerators, in order of kind and number."""
    if Found.devices is None:
        Found.devices = looked_for() if may_be_there() else []
    return Found.devices


def visible() -> list[Device]:
    """The accelerators that may be used."""
    return accelerators() if Found.visible is None else Found.visible


def choose(devices: list[Device]) -> None:
    """Make these, and no others, visible.

    Raises:
        RuntimeError: if accelerators are in use already.
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
    """The visible accelerators; after this call the choice is fixed."""
    Found.fixed = True
    return visible()


def find(kind: str, number: int) -> Device | None:
    """The visible device of this kind and number."""
    chosen = [device for device in usable() if device.kind == kind]
    return chosen[number] if number < len(chosen) else None


def default() -> Device:
    """The device for ops on values of accelerators if no device was requested."""
    return usable()[0]


def stand_ins_wanted() -> str:
    """The kind of device that stand-ins count as; "" for no stand-ins."""
    if Found.stand_ins is None:
        kind = os.environ.get("GRADTAPE_STAND_IN", "").upper()
        if kind not in ("", "GPU", "TPU"):
            raise ValueError(f"GRADTAPE_STAND_IN: must be GPU or TPU. Received {kind!r}.")
        Found.stand_ins = kind
    return Found.stand_ins


def may_be_there() -> bool:
    """Whether JAX may have accelerators: without a plugin it has only a CPU. Avoids the import."""
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
    """Query JAX for accelerators and stand-ins."""
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
    """Copy a host value, or an array on another device, to a JAX array on `device`."""
    import jax

    with jax.enable_x64(True):
        return guarded(jax.device_put, value, device.handle)


def fetch(array: Any) -> Any:
    """Copy a JAX array to a read-only raw array; waits for the result."""
    raw = guarded(np.asarray, array)
    return raw if raw.shape else raw[()]


def guarded(function: Callable[..., Any], *args: Any) -> Any:
    """Call JAX; errors of the device become TensorFlow's errors."""
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
    """Run a compiled function on a device.

    Raises:
        Inexpressible: if JAX cannot run it.
    """
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
    """The jitted kernel with these static parameters; JAX compiles it for each input shape."""
    return compiled((op.name,), list(static.items()), functools.partial(kernel_of(op), **static))


def compiled(name: tuple[Any, ...], static: list[Any], function: Callable[..., Any]) -> Any:
    """Jit a function; the same name and static values give the cached function."""
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
    PROGRAMS[key] = program  # the least recently used comes first
    return program


PROGRAMS: dict[Any, Any] = {}
MOST_PROGRAMS = 4096
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def identified(value: Any) -> Any:
    """A hashable key that is equal only for the same static value.

    Raises:
        TypeError: if the value has no such key.
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
    raise TypeError(f"static value without a cache key: {value!r}")


def ufunc(name: str, raws: tuple[Any, ...], device: Device) -> Any:
    """Apply the NumPy function `name` to values on a device; None if JAX cannot run it."""
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
