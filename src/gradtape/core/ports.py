"""Ports: every function that a lower layer calls in a higher one, with its type.

A port is a class of annotated functions and the name of the module that supplies them. That module
calls `supply` when it is imported, which checks the names. A function that is not supplied yet
raises an error that names the missing import.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from gradtape.core.lock import Lock

if TYPE_CHECKING:
    from gradtape.core.dtypes import DType
    from gradtape.core.primitive import Primitive
    from gradtape.core.tensor import EagerTensor, Tensor


class Port:
    """Base class of ports: `class NamePort(Port, supplier="module")` with annotated functions."""

    supplier: ClassVar[str] = ""
    names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, supplier: str) -> None:
        """Declare the functions; until they are supplied, they raise RuntimeError."""
        cls.supplier = supplier
        cls.names = tuple(cls.__annotations__)
        for name in cls.names:
            setattr(cls, name, make_missing_function(cls, name))

    @classmethod
    def supply(cls, **functions: Any) -> None:
        """Set all functions of the port at once.

        Raises:
            TypeError: if a name is missing or unknown.
        """
        if set(functions) != set(cls.names):
            raise TypeError(
                f"{cls.__name__}: {cls.supplier} must supply exactly {sorted(cls.names)}. "
                f"Received {sorted(functions)}."
            )
        for name, function in functions.items():
            setattr(cls, name, function)


def make_missing_function(port: type[Port], name: str) -> Callable[..., Any]:
    """Make the function that raises until the port is supplied."""

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{port.__name__}.{name} is called before it is supplied. Import {port.supplier}."
        )

    return missing


class TapePort(Port, supplier="gradtape.tape.backward"):
    """The backward half of a primitive.

    `make_step` makes the `tape.step.Step` for a mask of inputs, unbroadcasting or not.
    `route_cotangent` is the step that collects the cotangents of several outputs.
    """

    make_step: Callable[[Primitive, int, bool], Any]
    route_cotangent: Any


class DevicePort(Port, supplier="gradtape.devices.placement"):
    """Where values belong and kernels run; called only if `devices.active`.

    `make_tensor` makes a tensor on the requested device, `copy_to_gpu` on a GPU. `run_kernel` runs
    the kernel of a primitive on the device of its operands; `run_kernel_raw` does so for raw
    arrays, without handling of errors.
    """

    make_tensor: Callable[[Any], EagerTensor]
    copy_to_gpu: Callable[[EagerTensor, int], EagerTensor]
    run_kernel: Callable[[Primitive, tuple[Any, ...], dict[str, Any]], Any]
    run_kernel_raw: Callable[[Primitive, tuple[Any, ...], dict[str, Any]], Any]


class JaxPort(Port, supplier="gradtape.compile.xla.device"):
    """Devices of JAX; a device is a `devices.array.Device`.

    `put` copies a raw array or a JAX array to a device and `fetch` copies it back. `apply_ufunc`
    applies a ufunc by name, or returns None if JAX lacks it. `find_device` finds the device of a
    kind and number; `default_device` is that of ops on device arrays where `tf.device` requests
    none. `run_kernel` and `call_function` raise NotPlaceable.
    """

    put: Callable[[Any, Any], Any]
    fetch: Callable[[Any], Any]
    apply_ufunc: Callable[[str, tuple[Any, ...], Any], Any]
    find_device: Callable[[str, int], Any]
    default_device: Callable[[], Any]
    run_kernel: Callable[[Primitive, tuple[Any, ...], dict[str, Any], Any], Any]
    call_function: Callable[[Callable[..., Any], list[Any], Any], Any]


class XlaPort(Port, supplier="gradtape.compile.xla.engine"):
    """Results of the XLA engine: `fetch` waits for a JAX array and converts it to a raw one."""

    fetch: Callable[[Any], Any]


class RawFunctionPort(Port, supplier="gradtape.graph.raw_function"):
    """Functions of raw arrays in a trace: `trace_call` records a call on unknown sizes."""

    trace_call: Callable[[Callable[..., Any], tuple[Any, ...]], Tensor]


class CompilerPort(Port, supplier="gradtape.compile.numpy.engine"):
    """The NumPy engine, for the bodies of loops and branches: `compile` makes a plan of a graph."""

    compile: Callable[..., Callable[..., tuple[Any, ...]]]


class SizePort(Port, supplier="gradtape.graph.size_tensor"):
    """Tensors of unknown sizes in a trace.

    `make_scalar` makes a tensor of a symbolic size, `make_filled` one of unknown sizes whose
    elements are equal.
    """

    make_scalar: Callable[[Any, Any], Tensor]
    make_filled: Callable[[tuple[Any, ...], Any, Any], Tensor]


class ConversionPort(Port, supplier="gradtape.tf.tensor_operator"):
    """Conversions that consist of ops."""

    stack: Callable[[Sequence[Tensor]], Tensor]
    cast: Callable[[Tensor, DType], Tensor]


class RaggedPort(Port, supplier="gradtape.tf.tensor_operator"):
    """Functions of ragged and sparse tensors.

    `find_function` finds the ragged version of a public function, or None; `find_sparse_function`
    finds the sparse version. `apply_operator` and `apply_sparse_operator` apply an operator by the
    name of its method, such as `__add__`. `method_module` returns the module that implements the
    methods. The class is also the key of private constructors.
    """

    find_function: Callable[[Any], Any]
    find_sparse_function: Callable[[Any], Any]
    apply_operator: Callable[..., Any]
    apply_sparse_operator: Callable[[str, Any, Any], Any]
    method_module: Callable[[], Any]


class UserTypePort(Port, supplier="gradtape.tf.extension_type.dispatch"):
    """Functions that users registered for their own classes.

    `call_user_function` calls the one for the arguments of a public function.
    """

    call_user_function: Callable[[BaseException, Any, Any, Any], Any]


class ExplainPort(Port, supplier="gradtape.debug.explanation.lost"):
    """`explain` says why the gradient of a tape, or the tangent of an accumulator, is None.

    `explain_lost` answers for the gradients that were None so far.
    """

    explain: Callable[[Any, Any, Any], Any]
    explain_lost: Callable[[], list[Any]]


class DisplayPort(Port, supplier="gradtape.debug.display"):
    """What tapes, tensors, variables, functions and datasets show of themselves.

    `summarize` and `measure` describe a tape, `draw` draws a tape or a function into a file, and
    `to_html` makes HTML for notebooks.
    """

    summarize: Callable[[Any], Any]
    measure: Callable[[Any], Any]
    draw: Callable[[Any, Any], str]
    to_html: Callable[[Any], str]


def make_html(thing: Any) -> str:
    """HTML for notebooks; the method `_repr_html_` of several classes."""
    import_module(DisplayPort.supplier)
    return DisplayPort.to_html(thing)


class DeviceState:
    """Whether values may be on accelerators. Ordinary functions test `devices.active`.

    Attributes:
        active: False until the program first uses an accelerator, then True for good.
        observers: functions that are called once, when it becomes True.
    """

    __slots__ = ("active", "lock", "observers")

    def __init__(self) -> None:
        """Start on the host only."""
        self.active = False
        self.lock = Lock()
        self.observers: list[Callable[[], None]] = []

    def activate(self) -> None:
        """Allow values on accelerators from now on."""
        with self.lock:
            if not self.active:
                import_module(DevicePort.supplier)
                self.active = True
                for observe in self.observers:
                    observe()


devices = DeviceState()
