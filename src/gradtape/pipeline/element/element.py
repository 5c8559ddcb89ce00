"""What happens to single elements on their way: slices, batches, user functions, checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor, as_values
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, eager
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.structure import as_element, flatten, mapped, spec_of

END = object()  # what `next` gives after the last element


class Steps(Iterator[Any]):
    """An iterator that calls `step` for each element and goes on after an error."""

    __slots__ = ("step",)

    def __init__(self, step: Callable[[], Any]) -> None:
        """`step` raises StopIteration after the last element."""
        self.step = step

    def __next__(self) -> Any:
        """The next element."""
        return self.step()


def are_tensors(leaves: tuple[Any, ...]) -> bool:
    """Whether all of them are eager tensors."""
    return set(map(type, leaves)) == {EagerTensor}


def called(function: Callable[..., Any], element: Any) -> Any:
    """What a user's function makes of an element: a tuple is spread over its parameters.

    All user functions are called here. A list that one returns is taken for a tuple.
    """
    result = function(*element) if type(element) is tuple else function(element)
    kind = type(result)
    if kind is EagerTensor:
        return result
    if kind is tuple and are_tensors(result):
        return result
    return as_element(tuple(result) if kind is list else result)


def applied(function: Callable[..., Any], what: str) -> Callable[[Any], Any]:
    """A user's function of elements; an error says at which one it happened."""
    return noted(lambda element: called(function, element), what)


def noted(function: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """`function`; an error says at which element it happened."""
    count = 0

    def apply(element: Any) -> Any:
        nonlocal count
        try:
            return function(element)
        except Exception as error:
            error.add_note(f"Dataset.{what}: this happened at element {count} of the pass.")
            raise
        finally:
            count += 1

    return apply


def truth(predicate: Callable[[Any], Any], what: str) -> Callable[[Any], bool]:
    """`predicate` of elements, which must give a scalar of dtype bool."""
    apply = noted(predicate, what)

    def holds(element: Any) -> bool:
        answer = apply(element)
        if not isinstance(answer, EagerTensor) or answer.dtype.name != "bool" or answer.ndim:
            raise ValueError(
                f"{what}: Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, "
                f"but its return type is {spec_of(answer)}."
            )
        return bool(answer._array)

    return holds


def require_callable(function: Any) -> None:
    """Complain as TensorFlow about what cannot be called."""
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} "
            f"(of type {type(function)})"
        )


def batch_of(group: list[Any], spec: Callable[[], Any]) -> Any:
    """The elements of `group`, stacked; `spec` gives their spec, which ragged ones need."""
    first = group[0]
    if type(first) is EagerTensor:
        return stacked(*group)
    if type(first) is tuple and are_tensors(first):
        return tuple([stacked(*leaves) for leaves in zip(*group, strict=True)])
    if any(isinstance(leaf, RaggedTensor) for leaf in flatten(first)):
        return mapped(stacked_as, spec(), *group)
    return mapped(stacked, *group)


def stacker(dataset: Any) -> Callable[[list[Any]], Any]:
    """What stacks elements of a dataset."""
    if dataset._ragged:
        return lambda group: mapped(stacked_as, dataset.element_spec, *group)
    return lambda group: batch_of(group, dataset._own_spec)


def stacked_as(spec: Any, *leaves: Any) -> Any:
    """One component of the elements of a batch, which `spec` describes."""
    if isinstance(spec, RaggedTensorSpec):
        return ragged.stacked(leaves, spec)
    return stacked(*leaves)


def stacked(*leaves: Any) -> Any:
    """One component of the elements of a batch."""
    if leaves[0] is None:
        return None
    if isinstance(leaves[0], SparseTensor):
        return sparse.stacked(leaves)
    if not isinstance(leaves[0], EagerTensor):
        raise NotImplementedError(
            f"batch: {type(leaves[0]).__name__} is not stacked. Turn it into tensors first."
        )
    arrays = [leaf._array for leaf in leaves]
    shape = arrays[0].shape
    for other in {array.shape for array in arrays}:
        if other != shape:
            raise InvalidArgumentError(
                "batch: Cannot batch tensors with different shapes. First element had shape "
                f"{list(shape)} and another {list(other)}. Pad or crop them first."
            )
    if not shape:
        dtype = leaves[0].dtype
        if dtype is dtypes.string:
            arrays = [array[()] for array in arrays]
        return eager(np.array(arrays, dtype.as_numpy_dtype))
    return eager(np.concatenate(arrays).reshape(len(arrays), *shape))


def batched(spec: Any, width: int | None) -> Any:
    """The spec of a batch of `width` values of `spec`."""
    if isinstance(spec, RaggedTensorSpec):
        return ragged.batched(spec, width)
    if isinstance(spec, SparseTensorSpec):
        return sparse.batched(spec, width)
    if not isinstance(spec, TensorSpec):
        return spec
    return TensorSpec(TensorShape([width]).concatenate(spec.shape), spec.dtype)


def checked(spec: Any, value: Any) -> Any:
    """What a generator yielded, as an element of this spec."""
    try:
        return mapped(checked_leaf, spec, value)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidArgumentError(
            "from_generator: TypeError: `generator` yielded an element that does not match "
            f"{spec}. Received {value!r:.200}: {error}"
        ) from error


def checked_leaf(spec: Any, value: Any) -> Any:
    """One component of what a generator yielded."""
    if isinstance(spec, RaggedTensorSpec):
        leaf = as_values(value)
        if not spec.is_compatible_with(leaf):
            raise InvalidArgumentError(
                f"from_generator: TypeError: `generator` yielded an element of {spec_of(leaf)} "
                f"where an element of {spec} was expected."
            )
        return leaf
    if not isinstance(spec, TensorSpec):
        return value
    tensor = convert(value, spec.dtype)
    if not spec.shape.is_compatible_with(tensor.shape):
        raise InvalidArgumentError(
            "from_generator: TypeError: `generator` yielded an element of shape "
            f"{tensor.shape} where an element of shape {spec.shape} was expected."
        )
    return tensor
