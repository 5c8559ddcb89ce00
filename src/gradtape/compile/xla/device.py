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

from gradtape.compile.xla.jax_runtime import why_jax_cannot_run
from gradtape.compile.xla.kernel_namespace import clone_for_jax, has_jax, jax_kernel_of
from gradtape.core.errors import InternalError, ResourceExhaustedError
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.ports import JaxPort
from gradtape.core.primitive import Primitive
from gradtape.devices.array import Device, DeviceArray, from_jax_array
from gradtape.devices.placement import NotPlaceable

DEVICE_KINDS = {
    "gpu": "GPU",
    "cuda": "GPU",
    "rocm": "GPU",
    "tpu": "TPU",
}  # TensorFlow's, by JAX's names


class AcceleratorState:
    """The accelerators of the process.

    Attributes:
        devices: all accelerators; None before the first query.
        visible: those that may be used; None: all.
        is_fixed: whether one has been used, after which the visible devices cannot change.
        stand_in_kind: the kind that additional host devices of JAX stand in for; "" for no
            stand-ins, None before the environment variable is read.
    """

    devices: ClassVar[list[Device] | None] = None
    visible: ClassVar[list[Device] | None] = None
    is_fixed: ClassVar[bool] = False
    stand_in_kind: ClassVar[str | None] = None


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
    if AcceleratorState.is_fixed:
        raise RuntimeError(
            "stand_in: must be called before an accelerator is used. One is in use already. Call "
            "stand_in at the start of the program."
        )
    AcceleratorState.stand_in_kind = kind or ""
    AcceleratorState.devices = AcceleratorState.visible = None


def accelerators() -> list[Device]:
    """All accelerators, in order of kind and number."""
    if AcceleratorState.devices is None:
        AcceleratorState.devices = find_accelerators() if can_have_accelerators() else []
    return AcceleratorState.devices


def visible_accelerators() -> list[Device]:
    """The accelerators that may be used."""
    return accelerators() if AcceleratorState.visible is None else AcceleratorState.visible


def set_visible_accelerators(devices: list[Device]) -> None:
    """Make these, and no others, visible.

    Raises:
        RuntimeError: if accelerators are in use already.
    """
    if devices == visible_accelerators():
        return
    if AcceleratorState.is_fixed:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    AcceleratorState.visible = devices
    counts: dict[str, int] = {}
    for device in devices:
        device.number = counts[device.kind] = counts.get(device.kind, -1) + 1


def fix_visible_accelerators() -> list[Device]:
    """The visible accelerators; after this call the choice is fixed."""
    AcceleratorState.is_fixed = True
    return visible_accelerators()


def find_device(kind: str, number: int) -> Device | None:
    """The visible device of this kind and number."""
    chosen = [device for device in fix_visible_accelerators() if device.kind == kind]
    return chosen[number] if number < len(chosen) else None


def default_device() -> Device:
    """The device for ops on values of accelerators if no device was requested."""
    return fix_visible_accelerators()[0]


def stand_in_device_kind() -> str:
    """The kind of device that stand-ins count as; "" for no stand-ins."""
    if AcceleratorState.stand_in_kind is None:
        kind = os.environ.get("GRADTAPE_STAND_IN", "").upper()
        if kind not in ("", "GPU", "TPU"):
            raise ValueError(f"GRADTAPE_STAND_IN: must be GPU or TPU. Received {kind!r}.")
        AcceleratorState.stand_in_kind = kind
    return AcceleratorState.stand_in_kind


def can_have_accelerators() -> bool:
    """Whether JAX may have accelerators: without a plugin it has only a CPU. Avoids the import."""
    if not has_jax():
        return False
    if stand_in_device_kind() or "jax" in sys.modules:
        return True
    if os.environ.get("JAX_PLATFORMS", "").split(",") == ["cpu"]:
        return False
    if find_spec("jax_plugins") or find_spec("libtpu"):
        return True
    from importlib.metadata import entry_points

    return bool(entry_points(group="jax_plugins"))


def find_accelerators() -> list[Device]:
    """Query JAX for accelerators and stand-ins."""
    if why_jax_cannot_run():
        return []
    import jax

    handles = [
        (DEVICE_KINDS[d.platform], d) for d in jax.local_devices() if d.platform in DEVICE_KINDS
    ]
    stands_for = stand_in_device_kind()
    if stands_for:
        handles += [(stands_for, d) for d in jax.local_devices(backend="cpu")[1:]]
    counts: dict[str, int] = {}
    devices = []
    for kind, handle in handles:
        devices.append(Device(kind, counts.get(kind, 0), handle))
        counts[kind] = counts.get(kind, 0) + 1
    return devices


def list_jax_devices() -> list[Device]:
    """All local devices of JAX's default backend, of any kind, as TPUs; for `TPUStrategy`."""
    if not has_jax() or why_jax_cannot_run():
        return []
    import jax

    return [Device("TPU", i, handle) for i, handle in enumerate(jax.local_devices())]


def put_on_device(value: Any, device: Device) -> Any:
    """Copy a host value, or an array on another device, to a JAX array on `device`."""
    import jax

    with jax.enable_x64(True):
        return call_jax(jax.device_put, value, device.handle)


def fetch_to_host(array: Any) -> Any:
    """Copy a JAX array to a read-only raw array; waits for the result."""
    raw = call_jax(np.asarray, array)
    return raw if raw.shape else raw[()]


def call_jax(function: Callable[..., Any], *args: Any) -> Any:
    """Call JAX; errors of the device become TensorFlow's errors."""
    import jax

    try:
        return function(*args)
    except jax.errors.JaxRuntimeError as error:
        kind = ResourceExhaustedError if "RESOURCE_EXHAUSTED" in str(error) else InternalError
        raise kind(str(error)) from error


def run_kernel_on_device(
    op: Primitive, raws: tuple[Any, ...], static: dict[str, Any], device: Device
) -> Any:
    """Run the kernel of a primitive, compiled, on a device.

    Raises:
        NotPlaceable: if JAX cannot run it.
    """
    results = execute_program(kernel_program(op, static), raws, device)
    if op.outputs:
        return tuple([from_jax_array(array, device) for array in results])
    return from_jax_array(results, device)


def call_function_on_device(function: Callable[..., Any], raws: list[Any], device: Device) -> Any:
    """Run a function of raw arrays and Python values, compiled, on a device.

    Raises:
        NotPlaceable: if JAX cannot run it.
    """
    lowered = clone_for_jax(function)
    if lowered is function:
        raise NotPlaceable("it is a function of NumPy arrays")
    places = [
        i for i, raw in enumerate(raws) if isinstance(raw, DeviceArray | np.ndarray | np.generic)
    ]

    def program(*given: Any) -> Any:
        args = [clone_for_jax(raw) if type(raw) is FunctionType else raw for raw in raws]
        for i, value in zip(places, given, strict=True):
            args[i] = value
        return lowered(*args)

    rest = [None if i in places else raw for i, raw in enumerate(raws)]
    program = jit_once((function, *places), rest, program)
    results = execute_program(program, tuple([raws[i] for i in places]), device)
    if isinstance(results, tuple):
        return tuple([from_jax_array(array, device) for array in results])
    return from_jax_array(results, device)


def execute_program(program: Any, raws: tuple[Any, ...], device: Device) -> Any:
    """Run a compiled function on a device.

    Raises:
        NotPlaceable: if JAX cannot run it.
    """
    import jax

    from gradtape.compile.xla.lowering import jax_settings

    given = [operand_on_device(raw, device) for raw in raws]
    try:
        with jax_settings():
            if any(isinstance(a, jax.Array) for a in given):
                return program(*given)
            with jax.default_device(device.handle):
                return program(*given)
    except jax.errors.JaxRuntimeError as error:
        kind = ResourceExhaustedError if "RESOURCE_EXHAUSTED" in str(error) else InternalError
        raise kind(str(error)) from error
    except Exception as error:
        if is_from_signal_handler(error):
            raise
        raise NotPlaceable(str(error).strip().partition("\n")[0]) from error


def operand_on_device(raw: Any, device: Device) -> Any:
    """An operand on a device; Python numbers stay as they are."""
    if type(raw) is DeviceArray:
        return raw.jax_array_on(device)
    return put_on_device(raw, device) if isinstance(raw, np.ndarray | np.generic) else raw


def kernel_program(op: Primitive, static: dict[str, Any]) -> Any:
    """The jitted kernel with these static parameters; JAX compiles it for each input shape."""
    return jit_once(
        (op.name,), list(static.items()), functools.partial(jax_kernel_of(op), **static)
    )


def jit_once(name: tuple[Any, ...], static: list[Any], function: Callable[..., Any]) -> Any:
    """Jit a function; the same name and static values give the cached function."""
    import jax

    try:
        key = (name, static_key(static))
    except TypeError:
        return function
    program = JITTED_PROGRAMS.pop(key, None)
    if program is None:
        program = jax.jit(function)
        while len(JITTED_PROGRAMS) >= MAX_JITTED_PROGRAMS:
            JITTED_PROGRAMS.pop(next(iter(JITTED_PROGRAMS)), None)
    JITTED_PROGRAMS[key] = program  # the least recently used comes first
    return program


JITTED_PROGRAMS: dict[Any, Any] = {}
MAX_JITTED_PROGRAMS = 4096
PLAIN_STATIC_TYPES = (bool, int, float, complex, str, bytes, type(None))


def static_key(value: Any) -> Any:
    """A hashable key that is equal only for the same static value.

    Raises:
        TypeError: if the value has no such key.
    """
    if type(value) in PLAIN_STATIC_TYPES:
        return (type(value), repr(value))
    if type(value) in (tuple, list):
        return (type(value), *map(static_key, value))
    if type(value) is slice:
        return (slice, *map(static_key, (value.start, value.stop, value.step)))
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        return (type(value), value.shape, value.dtype, value.tobytes())
    if isinstance(value, np.dtype | type) or callable(value):
        return value
    raise TypeError(f"static value without a cache key: {value!r}")


def run_ufunc(name: str, raws: tuple[Any, ...], device: Device) -> Any:
    """Apply the NumPy function `name` to values on a device; None if JAX cannot run it."""
    import jax
    import jax.numpy as jnp

    function = getattr(jnp, name, None)
    if function is None:
        return None
    if name not in JITTED_UFUNCS:
        JITTED_UFUNCS[name] = jax.jit(function)
    try:
        result = execute_program(JITTED_UFUNCS[name], raws, device)
    except NotPlaceable:
        return None
    if isinstance(result, tuple):
        return tuple([from_jax_array(array, device) for array in result])
    return from_jax_array(result, device)


JITTED_UFUNCS: dict[str, Any] = {}

JaxPort.supply(
    put=put_on_device,
    fetch=fetch_to_host,
    apply_ufunc=run_ufunc,
    find_device=find_device,
    default_device=default_device,
    run_kernel=run_kernel_on_device,
    call_function=call_function_on_device,
)
