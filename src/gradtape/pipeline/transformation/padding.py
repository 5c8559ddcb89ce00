"""Padding of the elements of a batch to a common shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import DataLossError
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, make_tensor
from gradtape.pipeline.element.structure import flatten_element


def check_padded_shapes(spec: Any, padded_shapes: Any) -> list[TensorShape]:
    """The padded shape of each component.

    Raises:
        TypeError: if a component is not a tensor.
        ValueError: if a padded shape does not match its component.
    """
    leaves = flatten_element(spec)
    for leaf in leaves:
        if not isinstance(leaf, TensorSpec):
            raise TypeError(
                f"padded_batch: components must be tensors. Received {leaf!r}. Use batch."
            )
    if padded_shapes is None:
        for leaf in leaves:
            if leaf.shape.rank is None:
                raise ValueError(
                    "padded_batch: all components must have a known rank. Received one of unknown "
                    "rank. Pass `padded_shapes`."
                )
        return [leaf.shape for leaf in leaves]
    shapes = [as_padded_shape(shape) for shape in flatten_shapes(spec, padded_shapes)]
    for shape, leaf in zip(shapes, leaves, strict=True):
        if leaf.shape.rank is not None and not can_pad(leaf.shape, shape):
            raise ValueError(
                f"padded_batch: The padded shape {shape} is not compatible with the shape "
                f"{leaf.shape} of the corresponding input component."
            )
    return shapes


def as_padded_shape(shape: Any) -> TensorShape:
    """Convert a shape, list or tensor to a TensorShape; an integer is the size of a vector.

    A size of -1 is unknown.
    """
    if isinstance(shape, TensorShape):
        return shape
    sizes = shape._array.tolist() if isinstance(shape, EagerTensor) else shape
    sizes = [sizes] if isinstance(sizes, int) else list(sizes)
    return TensorShape([None if n is None or int(n) < 0 else int(n) for n in sizes])


def flatten_shapes(spec: Any, shapes: Any) -> list[Any]:
    """The shapes of the components of `spec`, from the same structure of shapes."""
    if isinstance(spec, Mapping) and isinstance(shapes, Mapping) and spec.keys() == shapes.keys():
        return [leaf for key in sorted(spec) for leaf in flatten_shapes(spec[key], shapes[key])]
    if isinstance(spec, tuple) and isinstance(shapes, (tuple, list)) and len(spec) == len(shapes):
        pairs = zip(spec, shapes, strict=True)
        return [leaf for one, shape in pairs for leaf in flatten_shapes(one, shape)]
    if isinstance(spec, (Mapping, tuple)):
        raise ValueError(
            f"padded_batch: padded shapes must have the structure of the elements, {spec}. "
            f"Received {shapes}."
        )
    return [shapes]


def can_pad(shape: TensorShape, into: TensorShape) -> bool:
    """Whether a component of `shape` can be padded to `into`."""
    if shape.rank != into.rank:
        return False
    sizes = zip(shape.as_list(), into.as_list(), strict=True)
    return all(a is None or b is None or a <= b for a, b in sizes)


def as_padding_values(spec: Any, values: Any) -> list[Any]:
    """The padding value of each component, as a raw array."""
    leaves = flatten_element(spec)
    if values is None:
        given: list[Any] = [None] * len(leaves)
    elif isinstance(values, (tuple, dict)):
        given = flatten_element(values)
    else:
        given = [values] * len(leaves)
    found = []
    for value, leaf in zip(given, leaves, strict=True):
        blank = b"" if leaf.dtype.name == "string" else 0
        plain = value is None or isinstance(value, (int, float, str, bytes))
        padding = convert(blank if value is None else value, leaf.dtype if plain else None)
        if padding.dtype != leaf.dtype:
            raise TypeError(
                f"padded_batch: the padding value must have the dtype of its component, "
                f"{leaf.dtype.name}. Received {padding.dtype.name}."
            )
        found.append(padding._array)
    return found


def pad_component(leaves: list[Any], shape: TensorShape, value: Any) -> Any:
    """Pad the values of one component and stack them."""
    arrays = [np.asarray(leaf._array) for leaf in leaves]
    sizes = shape.as_list() if shape.rank is not None else [None] * arrays[0].ndim
    largest = [max(array.shape[i] for array in arrays) for i in range(len(sizes))]
    target = [n if n is not None else most for n, most in zip(sizes, largest, strict=True)]
    if any(most > n for n, most in zip(target, largest, strict=True)):
        raise DataLossError(
            "padded_batch: Attempted to pad to a smaller size than the input element. "
            f"Received a size of {largest} for a padded shape of {target}."
        )
    out = np.full((len(arrays), *target), value, arrays[0].dtype)
    for i, array in enumerate(arrays):
        where: Any = (i, *(slice(n) for n in array.shape), ...)  # `...`: a scalar is copied, too
        out[where] = array
    return make_tensor(out)
