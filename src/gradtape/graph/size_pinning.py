"""SizePinning: the part of a trace that knows its unknown sizes and can pin them.

A function that fails on unknown sizes is called again for the sizes of the traced call. The trace
then serves only calls of these sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradtape.core.dims import Dim
from gradtape.core.lazy_array import TracedArray
from gradtape.core.open_shape import as_unknown
from gradtape.core.primitive import Spec
from gradtape.core.shapes import TensorShape
from gradtape.core.size_context import SizeContext
from gradtape.core.symbolic_tensor import SymbolicTensor, make_symbolic
from gradtape.graph.effect_log import EffectLog
from gradtape.graph.graph_builder import GraphBuilder
from gradtape.graph.guard import is_integer_scalar
from gradtape.graph.open_size import map_traced, opens_found_sizes, pin_tensor
from gradtape.graph.trace_options import TraceOptions
from gradtape.ops.shape import unstack

LEAST_INTEGER = -(2**31)


class SizePinning:
    """Base class of Trace.

    Attributes:
        sizes: the unknown sizes of the trace and the assumptions about them; None if all are known.
        pins_sizes: whether shapes show the sizes of the traced call, which are pinned.
        integer_sizes: the unknown sizes that integers of the graph are, by number.
        opens_elements: whether sizes of elements that the function reads may be unknown.
    """

    builder: GraphBuilder
    log: EffectLog
    options: TraceOptions
    integer_sizes: dict[int, Any]
    sizes: SizeContext | None = None
    pins_sizes = False
    opens_elements = False

    if TYPE_CHECKING:
        guard_value: Any
        save_position: Any
        restore_position: Any

    def read_truth(self, held: TracedArray) -> bool:
        """The truth value of at most one element, which Python branches on."""
        return bool(held.size) and bool(held.value().item())

    @property
    def reads_unknown_sizes(self) -> bool:
        """Whether integers that serve as sizes are unknown sizes."""
        return opens_found_sizes(self) and not self.pins_sizes

    def read_integer(self, held: TracedArray) -> Any:
        """An integer that Python needs, such as a size.

        It is an unknown size if later calls may have another one. They find it by a guard.
        """
        if held.dims is not None or not self.reads_unknown_sizes or not is_integer_scalar(held):
            return int(held)
        if held.number not in self.integer_sizes:
            value = int(self.guard_value(held, "size"))
            if self.sizes is None:
                self.sizes = SizeContext(with_hints=True)
            size = self.sizes.make_unknown(hint=value, least=LEAST_INTEGER, from_data=True)
            self.integer_sizes[held.number] = size
            self.log.guards[-1].unknown = as_unknown(size)
        return self.integer_sizes[held.number]

    def read_integers(self, held: TracedArray) -> tuple[Any, ...]:
        """The elements of a scalar or vector of integers, as sizes."""
        if not held.shape:
            return (self.read_integer(held),)
        elements = unstack(make_symbolic(held), axis=-1)
        return tuple([self.read_integer(one._array) for one in elements])

    def narrow_shape(self, held: TracedArray, known: TensorShape) -> None:
        """Assume sizes that the program states.

        Raises:
            ValueError: if they are not those of the traced call.
        """
        if known.rank is None:
            return
        shape: tuple[Any, ...] = held.shape
        sizes = []
        for size, stated in zip(shape, known, strict=True):
            if type(size) is Dim and stated is not None:
                if not size.context.assume_equal(size, stated):
                    raise ValueError(
                        f"set_shape: the sizes must be those of the tensor. Received {known} for a "
                        f"tensor of shape {list(held.traced_value.shape)}."
                    )
                size = stated
            sizes.append(size)
        held.shape = tuple(sizes)
        self.builder.specs[held.number] = Spec((held.shape, held.dtype))

    def retry(
        self,
        error: BaseException,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[Any] | None:
        """Call a function that failed on unknown sizes for the sizes of the traced call.

        Returns (result,), or None if that fails too.
        """
        if self.sizes is None or self.sizes.hints is None or self.pins_sizes:
            return None
        before = self.save_position()
        self.pins_sizes = True
        try:
            with self.sizes.attempt():
                given, named = map_traced(pin_tensor, (args, kwargs))
                return (function(*given, **named),)
        except Exception:
            self.restore_position(before)
            return None
        finally:
            self.pins_sizes = False

    def make_pinned_alias(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Another tensor for the same value, with the sizes of the traced call."""
        alias = make_symbolic(self.builder.add_alias(tensor._array))
        alias.uid = tensor.uid
        return alias
