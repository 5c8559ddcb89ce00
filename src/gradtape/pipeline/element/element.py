"""Operations on elements: calling user functions, stacking, and checking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.ragged.conversion import as_ragged_or_tensor
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor, SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, make_tensor
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.structure import (
    as_element,
    element_spec_of,
    flatten_element,
    map_element,
)

END = object()  # the default of `next`: there is no further element


class StepIterator(Iterator[Any]):
    """An iterator that calls `step` for each element; it can continue after an error."""

    __slots__ = ("step",)

    def __init__(self, step: Callable[[], Any]) -> None:
        """`step` must raise StopIteration after the last element."""
        self.step = step

    def __next__(self) -> Any:
        """The next element."""
        return self.step()


def are_eager_tensors(leaves: tuple[Any, ...]) -> bool:
    """Whether all leaves are eager tensors."""
    return set(map(type, leaves)) == {EagerTensor}


def call_user_function(function: Callable[..., Any], element: Any) -> Any:
    """Call a user function on an element; a tuple is unpacked into its parameters.

    All user functions are called here. A returned list counts as a tuple.
    """
    result = function(*element) if type(element) is tuple else function(element)
    kind = type(result)
    if kind is EagerTensor:
        return result
    if kind is tuple and are_eager_tensors(result):
        return result
    return as_element(tuple(result) if kind is list else result)


def wrap_user_function(function: Callable[..., Any], what: str) -> Callable[[Any], Any]:
    """Wrap a user function of elements; errors name the element."""
    return annotate_errors(lambda element: call_user_function(function, element), what)


def annotate_errors(function: Callable[[Any], Any], what: str) -> Callable[[Any], Any]:
    """Wrap `function`: add the number of the element to errors."""
    count = 0

    def apply(element: Any) -> Any:
        nonlocal count
        try:
            return function(element)
        except Exception as error:
            error.add_note(f"Dataset.{what}: this happened at element {count} of the iteration.")
            raise
        finally:
            count += 1

    return apply


def make_predicate(predicate: Callable[[Any], Any], what: str) -> Callable[[Any], bool]:
    """Wrap a predicate of elements: check that it returns a bool scalar, and convert that."""
    apply = annotate_errors(predicate, what)

    def holds(element: Any) -> bool:
        answer = apply(element)
        if not isinstance(answer, EagerTensor) or answer.dtype.name != "bool" or answer.ndim:
            raise ValueError(
                f"{what}: Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, "
                f"but its return type is {element_spec_of(answer)}."
            )
        return bool(answer._array)

    return holds


def require_callable(function: Any) -> None:
    """Raise ValueError, as TensorFlow, unless `function` is callable."""
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} "
            f"(of type {type(function)})"
        )


def stack_elements(group: list[Any], spec: Callable[[], Any]) -> Any:
    """Stack the elements of `group`; `spec()` is their spec, needed for ragged components."""
    first = group[0]
    if type(first) is EagerTensor:
        return stack_component(*group)
    if type(first) is tuple and are_eager_tensors(first):
        return tuple([stack_component(*leaves) for leaves in zip(*group, strict=True)])
    if any(isinstance(leaf, RaggedTensor) for leaf in flatten_element(first)):
        return map_element(stack_component_as, spec(), *group)
    return map_element(stack_component, *group)


def make_stacker(dataset: Any) -> Callable[[list[Any]], Any]:
    """Make the function that stacks elements of a dataset."""
    if dataset._has_ragged_rows:
        return lambda group: map_element(stack_component_as, dataset.element_spec, *group)
    return lambda group: stack_elements(group, dataset._get_element_spec)


def stack_component_as(spec: Any, *leaves: Any) -> Any:
    """Stack the values of one component, which has the spec `spec`."""
    if isinstance(spec, RaggedTensorSpec):
        return ragged.stack_ragged(leaves, spec)
    return stack_component(*leaves)


def stack_component(*leaves: Any) -> Any:
    """Stack the values of one component."""
    if leaves[0] is None:
        return None
    if isinstance(leaves[0], SparseTensor):
        return sparse.stack_sparse(leaves)
    if not isinstance(leaves[0], EagerTensor):
        raise NotImplementedError(
            f"batch: components must be tensors. Received {type(leaves[0]).__name__}. "
            "Convert it to tensors first."
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
        return make_tensor(np.array(arrays, dtype.as_numpy_dtype))
    return make_tensor(np.concatenate(arrays).reshape(len(arrays), *shape))


def batch_component_spec(spec: Any, width: int | None) -> Any:
    """The spec of a batch of `width` values of `spec`."""
    if isinstance(spec, RaggedTensorSpec):
        return ragged.batch_ragged_spec(spec, width)
    if isinstance(spec, SparseTensorSpec):
        return sparse.batch_sparse_spec(spec, width)
    if not isinstance(spec, TensorSpec):
        return spec
    return TensorSpec(TensorShape([width]).concatenate(spec.shape), spec.dtype)


def as_generator_element(spec: Any, value: Any) -> Any:
    """Convert a value that a generator yielded to an element of `spec`."""
    try:
        return map_element(as_generator_component, spec, value)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidArgumentError(
            "from_generator: TypeError: `generator` yielded an element that does not match "
            f"{spec}. Received {value!r:.200}: {error}"
        ) from error


def as_generator_component(spec: Any, value: Any) -> Any:
    """Convert one component of a value that a generator yielded."""
    if isinstance(spec, RaggedTensorSpec):
        leaf = as_ragged_or_tensor(value)
        if not spec.is_compatible_with(leaf):
            raise InvalidArgumentError(
                f"from_generator: TypeError: `generator` yielded an element of "
                f"{element_spec_of(leaf)} "
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
