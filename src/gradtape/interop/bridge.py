"""What the bridges share: which tensors are differentiated, and the pull-back of our functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core import nest
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.tape.gradient_tape import GradientTape


def as_eager_tensors(op: str, values: Any) -> list[Tensor]:
    """Convert arguments to eager tensors.

    Raises:
        NotImplementedError: inside a tf.function, where they have no values.
    """
    if current_trace():
        raise NotImplementedError(
            f"{op}: the other framework needs values, which a tf.function does not have while it "
            "is traced. Call the function outside, or through tf.py_function."
        )
    return [convert(value) for value in values]


def is_inexact(tensor: Any) -> bool:
    """Whether a tensor has floats or complex numbers."""
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)


class RecordedCall:
    """A call of one of our functions, and its gradients.

    Attributes:
        results: the tensors among the results.
        structure: the structure of the result.
    """

    def __init__(self, function: Callable[..., Any], args: list[Tensor]) -> None:
        """Call `function` on tensors, under a tape."""
        self.sources = [tensor for tensor in args if is_inexact(tensor)]
        with GradientTape(persistent=True) as self.tape:
            self.tape.watch(self.sources)
            self.structure = function(*args)
        self.results = [convert(leaf) for leaf in nest.flatten(self.structure)]

    def pull_back(self, cotangents: list[Tensor]) -> list[Tensor]:
        """Gradients by the inexact arguments; zeros for those without influence."""
        found = self.tape.gradient(
            self.results,
            self.sources,
            output_gradients=cotangents,
            unconnected_gradients="zero",
        )
        return [convert(one) for one in found]


def make_pull_back(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function of arguments and cotangents that returns the gradients of `function`.

    The first `count` arguments are those of `function`.
    """

    def pull_back(*values: Tensor) -> list[Tensor]:
        args, cotangents = list(values[:count]), list(values[count:])
        return RecordedCall(function, args).pull_back(cotangents)

    return pull_back


def tensor_from_dlpack(value: Any) -> EagerTensor:
    """A tensor that shares the memory of an array of another library."""
    from gradtape.tf.experimental.dlpack import from_dlpack

    tensor = from_dlpack(value)
    if not isinstance(tensor, EagerTensor):
        raise InvalidArgumentError("from_dlpack: expected an eager tensor.")
    return tensor


def name_like(function: Callable[..., Any], wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """Give `wrapper` the name and docstring of `function`, whose signature may be unknown."""
    wrapper.__name__ = wrapper.__qualname__ = getattr(function, "__name__", "function")
    wrapper.__doc__ = function.__doc__
    return wrapper
