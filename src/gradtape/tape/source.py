"""Sources of a gradient: the uids that a tape knows them by, and the gradients they get."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.dispatch import TapeRecord
from gradtape.core.enums import UnconnectedGradients
from gradtape.core.open_shape import has_dims
from gradtape.core.ports import SizePort
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.tensor import Tensor, make_tensor, wrap_array
from gradtape.devices.array import to_device_of
from gradtape.ops.elementwise import conj
from gradtape.ops.shape import as_scalar_unless_string, zeros
from gradtape.tape.indexed_slices import IndexedSlices, SparseCotangent


def needs_zeros(choice: Any) -> bool:
    """Whether unconnected sources get zeros.

    Raises:
        ValueError: if `choice` is not a value of UnconnectedGradients.
    """
    try:
        return UnconnectedGradients(choice) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(
            f"unconnected_gradients: must be 'none' or 'zero'. Received {choice!r}."
        ) from None


def variable_of(thing: Any) -> Any:
    """The variable behind a variable, a Keras variable or a handle; None for anything else."""
    if isinstance(thing, Tensor):
        return None
    cell = getattr(thing, "_target_variable", None)
    if cell is None and hasattr(thing, "_should_act_as_resource_variable"):
        # Keras variables under autocast have no handle.
        cell = getattr(getattr(thing, "handle", None), "variable", None)
    return cell


def current_value(thing: Any) -> Any:
    """The current tensor of a tensor or variable; recorders are not notified."""
    variable = variable_of(thing)
    return to_current_trace(thing) if variable is None else variable._current_version()


def to_current_trace(thing: Any) -> Any:
    """The traced tensor for `thing` if a trace is active, else `thing`."""
    stage = current_trace()
    return stage[0].as_traced(thing) if stage and isinstance(thing, Tensor) else thing


def source_uids(record: TapeRecord, source: Any) -> tuple[Any, Any]:
    """The uids of a source (one for each version of a variable), and its current value."""
    if isinstance(source, Tensor):
        tensor = to_current_trace(source)
        return (tensor.uid,), tensor
    if hasattr(source, "_key"):
        variable = source
    elif isinstance(source, RaggedTensor):
        return source_uids(record, source.flat_values)[0], source
    else:
        variable = variable_of(source)
        if variable is None:
            raise TypeError(
                "GradientTape: sources must be Tensors or Variables. "
                f"Received {source!r} of type {type(source).__name__}."
            )
    current = variable._current_version()
    uid = current.uid
    watched_versions = record.variables.get(variable._key)
    if watched_versions is None:
        return (uid,), current
    uids = watched_versions[1]
    return (uids if uid in uids else [*uids, uid]), current


def as_cotangent_tensor(value: Any) -> Tensor:
    """A cotangent as a Tensor."""
    return value if isinstance(value, Tensor) else make_tensor(value)


def collect_gradient(found: dict[int, Any], uids: Any, current: Any, zero: bool) -> Any:
    """The gradient of one source, in the form that the user gets."""
    if type(current) is RaggedTensor:
        flat = collect_gradient(found, uids, current.flat_values, zero)
        return None if flat is None else current.with_flat_values(convert(flat))
    total = None
    for uid in uids:
        g = found.get(uid)
        if g is not None:
            total = g if total is None else total + g
    if total is None:
        return make_zeros_like(current) if zero else None
    if type(total) is SparseCotangent:
        return as_indexed_slices(total, current._array.dtype.kind == "c")
    tensor = total if isinstance(total, Tensor) else wrap_array(total)
    return conj(tensor) if current._array.dtype.kind == "c" else tensor


def make_zeros_like(tensor: Tensor) -> Tensor:
    """Zeros of the shape and dtype of a tensor."""
    raw = tensor._array
    if has_dims(raw.shape):
        return SizePort.make_filled(raw.shape, 0, raw.dtype)
    return make_tensor(to_device_of(as_scalar_unless_string(zeros(raw.shape, raw.dtype)), raw))


def as_indexed_slices(slices: SparseCotangent, conjugate: bool) -> IndexedSlices:
    """Convert a sparse cotangent to IndexedSlices."""
    values, indices = as_cotangent_tensor(slices.values), as_cotangent_tensor(slices.indices)
    values = conj(values) if conjugate else values
    return IndexedSlices(values, indices, as_shape_tensor(slices.shape))


@lru_cache(maxsize=64)
def as_shape_tensor(shape: tuple[int, ...]) -> Tensor:
    """A shape as a tensor; equal shapes share one tensor."""
    return convert(list(shape))
