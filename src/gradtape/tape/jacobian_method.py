"""The methods of GradientTape for jacobians; `tape/jacobian.py` computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from gradtape.core.enums import UnconnectedGradients
from gradtape.core.errors import raise_call_error
from gradtape.core.tensor import Tensor
from gradtape.core.traceback_filter import hide_library_frames

if TYPE_CHECKING:
    from gradtape.tape.gradient_tape import GradientTape

K = TypeVar("K")


class JacobianMethods:
    """The part of GradientTape that differentiates every element of a target."""

    @overload
    def jacobian(
        self,
        target: Any,
        sources: list[Any],
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> list[Tensor]: ...
    @overload
    def jacobian(
        self,
        target: Any,
        sources: tuple[Any, ...],
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> tuple[Tensor, ...]: ...
    @overload
    def jacobian(
        self,
        target: Any,
        sources: Mapping[K, object],
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> dict[K, Tensor]: ...
    @overload
    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor: ...
    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Derivative of every element of `target` with respect to every element of `sources`.

        Args:
            target: a tensor.
            sources: tensors or variables, or a nested structure of them.
            unconnected_gradients: result for a source that `target` does not depend on:
                "none" or "zero".
            parallel_iterations: ignored.
            experimental_use_pfor: False requires a persistent tape; otherwise ignored.

        Returns:
            For each source a tensor of shape target.shape + source.shape, or None.
        """
        from gradtape.tape.jacobian import jacobian

        tape = cast("GradientTape", self)
        try:
            return jacobian(tape, target, sources, unconnected_gradients, experimental_use_pfor)
        except Exception as error:
            try:
                raise_call_error(error, type(self).jacobian, (self, target, sources), {})
            except Exception as final:
                hide_library_frames(final)
                raise

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor:
        """Derivative of each row of `target` with respect to the same row of `source`.

        Args:
            target: a tensor of shape (b, y1, …).
            source: a tensor of shape (b, x1, …); row i of `target` should depend on row i alone.
            unconnected_gradients: ignored; an unconnected source gets zeros, as in TensorFlow.
            parallel_iterations: a value other than None requires a persistent tape.
            experimental_use_pfor: False requires a persistent tape; otherwise ignored.

        Returns:
            A tensor of shape (b, y1, …, x1, …).
        """
        from gradtape.tape.jacobian import batch_jacobian

        tape = cast("GradientTape", self)
        try:
            return batch_jacobian(
                tape,
                target,
                source,
                unconnected_gradients,
                parallel_iterations,
                experimental_use_pfor,
            )
        except Exception as error:
            try:
                raise_call_error(error, type(self).batch_jacobian, (self, target, source), {})
            except Exception as final:
                hide_library_frames(final)
                raise
