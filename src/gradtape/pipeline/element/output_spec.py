"""What a function would return, found by running it on zeros of the sizes that are known."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.context import local, unheard
from gradtape.core.dtypes import string
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import eager
from gradtape.pipeline.base import UNKNOWN, Base, made
from gradtape.pipeline.current_pass import NotQuietly, ongoing
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.structure import NoneTensorSpec, flatten, mapped
from gradtape.pipeline.optional import Optional, OptionalSpec
from gradtape.tape.custom_gradient import REPLAYED

SIZES = (3, 5)  # stand-ins for an unknown dimension; where results differ, theirs is unknown too


def probed(function: Callable[[Any], Any], spec: Any) -> Any:
    """The spec that `function`, which returns specs, gives for elements that `spec` describes."""
    if ongoing.quietly:
        raise NotQuietly
    specs = flatten(spec)
    unknown = any(
        isinstance(s, (RaggedTensorSpec, SparseTensorSpec))
        or (isinstance(s, TensorSpec) and (s.dtype is string or not s.shape.is_fully_defined()))
        for s in specs
    )
    saved = [save() for save, _ in REPLAYED]
    try:
        with unheard():
            found = []
            for n in SIZES[: 1 + unknown]:
                local.stand_in = n
                found.append(function(stand_in(spec, n)))
            if any(isinstance(s, TensorSpec) and s.dtype.is_integer for s in specs):
                with contextlib.suppress(Exception):  # what depends on a value is unknown
                    found.append(function(stand_in(spec, SIZES[0], 1)))
    finally:
        local.stand_in = 0
        for (_, restore), state in zip(REPLAYED, saved, strict=False):  # there may be new ones
            restore(state)
    return found[0] if len(found) == 1 else mapped(common, *found)


def common(first: Any, *others: Any) -> Any:
    """What describes all of them."""
    return first.most_specific_common_supertype(others)


def stand_in(spec: Any, size: int, number: int = 0) -> Any:
    """An element of this spec, with `size` for what is unknown and `number` for all values."""
    return mapped(lambda leaf: stand_in_leaf(leaf, size, number), spec)


def stand_in_leaf(spec: Any, size: int, number: int = 0) -> Any:
    """A component of this spec."""
    if isinstance(spec, TensorSpec):
        if spec.shape.rank is None:
            raise NotImplementedError(
                "element_spec: a function of tensors of unknown rank is not looked into. "
                "Give output_shapes."
            )
        shape = tuple(size if n is None else n for n in spec.shape.as_list())
        if spec.dtype.name == "string":
            return eager(np.full(shape, b"", object))
        return eager(np.full(shape, number, spec.dtype.as_numpy_dtype)[()])
    if isinstance(spec, RaggedTensorSpec):
        return ragged.stand_in(spec, size, number)
    if isinstance(spec, SparseTensorSpec):
        return sparse.stand_in(spec, size, number)
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, OptionalSpec):
        return Optional.empty(spec._component_specs)
    inner = getattr(spec, "element_spec", None)
    if inner is not None and spec.value_type is Base.kind:
        return made(lambda: iter([stand_in(inner, size)] * size), lambda: inner, UNKNOWN)
    raise NotImplementedError(f"element_spec: a function of {spec!r} is not looked into.")
