"""Scopes and queries of the runtime: devices, name scopes, eager mode, conversion functions."""

from __future__ import annotations

import builtins
import contextlib
import logging
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from gradtape.core import convert as conversion
from gradtape.core import nest
from gradtape.core.block_exit import BlockEnd, BlockExit
from gradtape.core.context import current_trace, local, no_recording
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.name_scope import current_scope
from gradtape.core.name_scope import name_scope as name_scope
from gradtape.core.ports import devices
from gradtape.core.spec import TensorSpec, TypeSpec, type_spec_of
from gradtape.core.tensor import EagerTensor, Tensor, make_tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.devices.array import HOST
from gradtape.state.variable.variable import Variable
from gradtape.tf.array.shape import identity
from gradtape.tf.array.tensor_array import TensorArray
from gradtape.tf.array.tensor_array_spec import TensorArraySpec
from gradtape.tf.config.device import LogicalDevice, find_device
from gradtape.tf.config.device_spec import DeviceSpec

NO_DEVICE_SET = object()


def leave_device(end: BlockEnd, unused: list[BlockEnd]) -> Generator[None, None, None]:
    """Steps of `BlockExit`: use the device around the block again."""
    while True:
        try:
            end.is_usable = True
            yield
        except GeneratorExit:  # the end is not used any more
            end.block = None
            raise
        finally:
            end.is_usable = False
            block, end.block = end.block, None
            if block is not None:
                before, home = block._outer_devices[-1], local.__dict__
                if before is not NO_DEVICE_SET:
                    home["device"] = before
                elif "device" in home:
                    del home["device"]
                block._outer_devices.pop()
        del block
        unused.append(end)


class device:  # noqa: N801  TensorFlow's name, used like a function
    """Scope whose ops run, and whose tensors and variables live, on a device.

    With soft placement, the CPU replaces a missing device and runs the ops that an accelerator
    cannot run: see `tf.config.set_soft_device_placement`. A `tf.function` runs on one device.

    Args:
        device_name: such as "/GPU:0", a DeviceSpec or LogicalDevice; None for the default.

    Raises:
        RuntimeError: if `device_name` is a function.
        ValueError: on entering, if `device_name` is not the name of a device.
        InvalidArgumentError: on entering, if the device is missing and soft placement is off.
    """

    @public
    def __init__(self, device_name: Any) -> None:
        if callable(device_name):
            raise RuntimeError("tf.device does not support functions. Pass a device name.")
        self._name = device_name
        self._outer_devices: list[Any] = []

    def __enter__(self) -> None:
        try:
            self._enter()
        except Exception as error:
            hide_library_frames(error)
            raise

    def _enter(self) -> None:
        name = self._name.name if isinstance(self._name, LogicalDevice) else self._name
        name = name.to_string() if isinstance(name, DeviceSpec) else name
        if name is not None and not isinstance(name, str):
            raise ValueError(
                f"tf.device: expecting a string device name. Received {name!r} of {type(name)}."
            )
        chosen = None if name is None else find_device(name)
        self._outer_devices.append(vars(local).get("device", NO_DEVICE_SET))
        if chosen is None:
            if name is None:
                vars(local).pop("device", None)
            return
        if chosen is not HOST:
            devices.activate()
            for trace in current_trace():
                trace.request_device(chosen)
        local.device = chosen

    __exit__ = BlockExit(leave_device)


def init_scope() -> contextlib.AbstractContextManager[None]:
    """Scope in which ops run eagerly and unrecorded, even inside a tape or a trace.

    Yields:
        None.
    """
    return no_recording()


@public
@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Call the functions in `control_inputs`; tensors need nothing, as eager ops run in order.

    Args:
        control_inputs: a list of tensors and functions without arguments, or None.

    Returns:
        A context manager.
    """
    for one in control_inputs or ():
        if callable(one):
            one()
    yield


@public
def group(*inputs: Any, **kwargs: Any) -> None:
    """Return None: eager ops have finished when they return.

    Args:
        *inputs: tensors, or nested structures of them.
        **kwargs: only `name`.

    Returns:
        None.
    """
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"group: the only keyword is `name`. Received {sorted(kwargs)}.")
    nest.flatten(inputs)


def no_op(name: str | None = None) -> None:
    """Do nothing.

    Args:
        name: has no effect here.

    Returns:
        None.
    """


def executing_eagerly() -> bool:
    """Whether ops compute their result when they are called.

    Returns:
        A bool.

    Example:
        >>> tf.executing_eagerly()
        True
    """
    return not inside_function()


def inside_function() -> bool:
    """Whether a `tf.function` is being traced.

    Returns:
        A bool.
    """
    return any(getattr(r, "symbolic", False) for r in local.recorders)


def get_logger() -> logging.Logger:
    """The logger named "tensorflow".

    Returns:
        A `logging.Logger`.
    """
    return logging.getLogger("tensorflow")


def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970 as a float64 scalar.

    Args:
        name: has no effect here.

    Returns:
        A float64 scalar.
    """
    return make_tensor(np.float64(time.time()))


@public
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of an eager tensor as a NumPy array; None for variables and symbolic tensors.

    Args:
        tensor: a tensor; any other value is returned unchanged.
        partial: has no effect here.

    Returns:
        A NumPy array or None.
    """
    if isinstance(tensor, EagerTensor):
        return tensor.numpy()
    return None if isinstance(tensor, (Tensor, Variable)) else tensor


@public
def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Convert objects of `base_type` to tensors by `conversion_func(value, dtype, name, as_ref)`.

    Args:
        base_type: a class or a tuple of classes.
        conversion_func: returns a tensor, or NotImplemented to pass the value to the next function.
        priority: functions with smaller numbers are tried first.

    Returns:
        None.

    Raises:
        TypeError: if an argument has the wrong type, or `base_type` is a numeric type of Python or
            a scalar or array type of NumPy.
    """
    types = base_type if isinstance(base_type, builtins.tuple) else (base_type,)
    if not types or not all(isinstance(t, type) for t in types):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Received {base_type!r}."
        )
    if any(issubclass(t, (int, float, np.generic, np.ndarray)) for t in types):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    if not callable(conversion_func):
        raise TypeError(
            f"Argument `conversion_func` must be callable. Received {conversion_func!r}."
        )
    conversion.register_conversion(base_type, conversion_func, priority)


@public
def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec that describes `value`: its own, or that of the tensor it converts to.

    Args:
        value: a tensor, dataset or other value.

    Returns:
        A TypeSpec.

    Raises:
        TypeError: if `value` does not convert to a tensor.

    Example:
        >>> tf.type_spec_from_value(tf.ones([2]))
        TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """
    spec = (
        TensorArraySpec.from_value(value) if isinstance(value, TensorArray) else type_spec_of(value)
    )
    if isinstance(spec, TypeSpec):
        return spec
    try:
        return TensorSpec.from_tensor(convert(value))
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
        ) from None


def get_current_name_scope() -> str:
    """The current name scope, without the "/" at its end.

    Returns:
        A string.
    """
    return current_scope().rstrip("/")


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether `tensor` is symbolic: a tensor without a value, inside a traced function.

    Args:
        tensor: a tensor.

    Returns:
        A bool.
    """
    return isinstance(tensor, Tensor) and not isinstance(tensor, EagerTensor)


@public
def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """`tensors` unchanged: eager tensors are already computed.

    Args:
        tensors: a list of tensors.
        control_inputs: has no effect here.
        name: has no effect here.

    Returns:
        A list of tensors.
    """
    return tensors


@public
def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """A tensor equal to `input`.

    Args:
        input: a tensor.
        name: has no effect here.

    Returns:
        A tensor.
    """
    return identity(input)
