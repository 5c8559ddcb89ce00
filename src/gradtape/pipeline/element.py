"""What happens to single elements on their way: slices, batches, and checks of what is yielded."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import eager
from gradtape.pipeline.structure import mapped


def slice_of(element: Any, i: int) -> Any:
    """The i-th slice of every tensor along its first axis."""
    return mapped(lambda leaf: leaf if leaf is None else eager(leaf._array[i]), element)


def require_callable(function: Any) -> None:
    """Complain as TensorFlow about what cannot be called."""
    if not callable(function):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={function} "
            f"(of type {type(function)})"
        )


def stacked(*leaves: Any) -> Any:
    """One component of the elements of a batch."""
    if leaves[0] is None:
        return None
    shapes = [leaf._array.shape for leaf in leaves]
    for shape in shapes:
        if shape != shapes[0]:
            raise InvalidArgumentError(
                "batch: Cannot batch tensors with different shapes. First element had shape "
                f"{list(shapes[0])} and another {list(shape)}. Pad or crop them first."
            )
    return eager(np.stack([leaf._array for leaf in leaves]))


def batched(spec: Any, width: int | None) -> Any:
    """The spec of a batch of `width` values of `spec`."""
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
    if not isinstance(spec, TensorSpec):
        return value
    tensor = convert(value, spec.dtype)
    if not spec.shape.is_compatible_with(tensor.shape):
        raise InvalidArgumentError(
            "from_generator: TypeError: `generator` yielded an element of shape "
            f"{tensor.shape} where an element of shape {spec.shape} was expected."
        )
    return tensor
