"""Context, graph and tapes of the running thread, as TensorFlow's private modules return them."""

from __future__ import annotations

from typing import Any

from gradtape.core.context import current_trace, local
from gradtape.core.convert import convert
from gradtape.core.dtypes import is_differentiable
from gradtape.tf.config.device import DEVICE_CONFIGURATIONS
from gradtape.tf.config.device_spec import DeviceSpec
from gradtape.tf.framework import executing_eagerly


class EagerContext:
    """The context of eager ops."""

    device_spec = DeviceSpec(job="localhost", replica=0, task=0, device_type="CPU", device_index=0)

    def clear_kernel_cache(self) -> None:
        """Do nothing: no kernels are cached."""

    def executing_eagerly(self) -> bool:
        """Whether ops run at once."""
        return executing_eagerly()


CONTEXT = EagerContext()


def context() -> EagerContext:
    """The context of this process."""
    return CONTEXT


def _reset_context() -> None:
    """Forget how devices are divided; tests of packages call it before they divide the CPU."""
    DEVICE_CONFIGURATIONS.clear()


def async_wait() -> None:
    """Do nothing: eager ops have finished when they return."""


def should_record_backprop(tensors: Any) -> bool:
    """Whether a tape records an op on these tensors."""
    recorders = [r for r in local.recorders if not r.is_trace]
    return any(
        is_differentiable(t._array.dtype) and t.uid in recorder
        for t in map(convert, tensors)
        for recorder in recorders
    )


class Graph:
    """The graph that is being built; for checks whether two tensors belong to one graph."""

    def __init__(self, trace: Any) -> None:
        """`trace` records the graph; None outside of a `tf.function`."""
        self.trace = trace
        self.building_function = trace is not None

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name itself: ops of a graph need no unique names here."""
        return name

    def __eq__(self, other: object) -> bool:
        """Whether both are the graph of one trace."""
        return isinstance(other, Graph) and other.trace is self.trace

    def __hash__(self) -> int:
        """A hash of the trace."""
        return id(self.trace)


def get_default_graph() -> Graph:
    """The graph of the `tf.function` that is being traced, or an empty one."""
    stage = current_trace()
    return Graph(stage[0] if stage else None)
