"""What a function would return, found by running it on zeros of the sizes that are known."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.context import local, no_recording
from gradtape.core.dtypes import string
from gradtape.core.ragged.spec import RaggedTensorSpec
from gradtape.core.sparse_tensor import SparseTensorSpec
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import UNKNOWN, DatasetBase, make_dataset
from gradtape.pipeline.element import ragged, sparse
from gradtape.pipeline.element.structure import NoneTensorSpec, flatten_element, map_element
from gradtape.pipeline.iteration import NeedsPythonCall, current_iteration
from gradtape.pipeline.optional import Optional, OptionalSpec
from gradtape.tape.custom_gradient import RECOMPUTE_STATE

SIZES = (3, 5)  # stand-ins for an unknown dimension; where results differ, theirs is unknown too


def probed(function: Callable[[Any], Any], spec: Any) -> Any:
    """The spec that `function`, which returns specs, gives for elements that `spec` describes."""
    if current_iteration.is_trace_only:
        raise NeedsPythonCall
    specs = flatten_element(spec)
    unknown = any(
        isinstance(s, (RaggedTensorSpec, SparseTensorSpec))
        or (isinstance(s, TensorSpec) and (s.dtype is string or not s.shape.is_fully_defined()))
        for s in specs
    )
    saved = [save() for save, _ in RECOMPUTE_STATE]
    try:
        with no_recording():
            found = []
            for n in SIZES[: 1 + unknown]:
                local.probe_size = n
                found.append(function(stand_in(spec, n)))
            if any(isinstance(s, TensorSpec) and s.dtype.is_integer for s in specs):
                with contextlib.suppress(Exception):  # what depends on a value is unknown
                    found.append(function(stand_in(spec, SIZES[0], 1)))
    finally:
        local.probe_size = 0
        for (_, restore), state in zip(
            RECOMPUTE_STATE, saved, strict=False
        ):  # there may be new ones
            restore(state)
    return found[0] if len(found) == 1 else map_element(common, *found)


def common(first: Any, *others: Any) -> Any:
    """What describes all of them."""
    return first.most_specific_common_supertype(others)


def stand_in(spec: Any, size: int, number: int = 0) -> Any:
    """An element of this spec, with `size` for what is unknown and `number` for all values."""
    return map_element(lambda leaf: stand_in_leaf(leaf, size, number), spec)


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
            return make_tensor(np.full(shape, b"", object))
        return make_tensor(np.full(shape, number, spec.dtype.as_numpy_dtype)[()])
    if isinstance(spec, RaggedTensorSpec):
        return ragged.make_ragged_placeholder(spec, size, number)
    if isinstance(spec, SparseTensorSpec):
        return sparse.make_sparse_placeholder(spec, size, number)
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, OptionalSpec):
        return Optional.empty(spec._component_specs)
    inner = getattr(spec, "element_spec", None)
    if inner is not None and spec.value_type is DatasetBase.dataset_class:
        return make_dataset(lambda: iter([stand_in(inner, size)] * size), lambda: inner, UNKNOWN)
    raise NotImplementedError(f"element_spec: a function of {spec!r} is not looked into.")
