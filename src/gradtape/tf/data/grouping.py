"""tf.data.experimental: transformations that reduce groups of elements, or pad a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradtape.core.errors import public
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor
from gradtape.pipeline.base import UNKNOWN
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.element.structure import map_element
from gradtape.pipeline.transformation.window import check_group_key, wrap_key_function
from gradtape.pipeline.user_function import UserFunction
from gradtape.tf.array.creation import zeros

Transformation = Callable[[Dataset], Dataset]


class Reducer:
    """Three functions that reduce the elements of a group.

    Args:
        init_func: function of a key that returns the first state.
        reduce_func: function of a state and an element that returns the next state.
        finalize_func: function of the components of the last state that returns the result.
    """

    @public
    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any) -> None:
        """Store the functions."""
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """The function of a key that returns the first state."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """The function of a state and an element that returns the next state."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """The function of the last state that returns the result."""
        return self._functions[2]


@public
def group_by_reducer(key_func: Any, reducer: Reducer) -> Transformation:
    """Group elements by key and reduce each group, as a transformation for `apply`.

    Args:
        key_func: function of an element that returns its key, a scalar int64.
        reducer: a `Reducer`.

    Returns:
        A function for `Dataset.apply`; its results come in the order of the keys.
    """
    keys = UserFunction(wrap_key_function(key_func))
    init, reduce, finalize = (
        UserFunction(f) for f in (reducer.init_func, reducer.reduce_func, reducer.finalize_func)
    )

    def group(dataset: Dataset) -> Dataset:
        def reduce_groups(items: Iterator[Any]) -> Iterator[Any]:
            states: dict[int, Any] = {}
            for element in items:
                key = check_group_key(keys.apply(element))
                if key not in states:
                    states[key] = init.apply(make_tensor(np.int64(key)))
                states[key] = reduce.apply((states[key], element))
            yield from (finalize.apply(states[key]) for key in sorted(states))

        def spec() -> Any:
            state = init.infer_output_spec(TensorSpec((), np.int64))
            state = reduce.infer_output_spec((state, dataset.element_spec))
            return finalize.infer_output_spec(state)

        grouped = dataset._transform(reduce_groups, spec, UNKNOWN)
        return grouped._label_as("_GroupByReducerDataset", keys, init, reduce, finalize)

    return group


@public
def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Transformation:
    """Pad a dataset of dicts with elements of zeros, as a transformation for `apply`.

    Args:
        cardinality: the number of elements afterwards.
        mask_key: the key of a bool that is True in real elements and False in padding.

    Returns:
        A function for `Dataset.apply`.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
        >>> padded = dataset.apply(tf.data.experimental.pad_to_cardinality(3))
        >>> [(int(e["a"]), bool(e["valid"])) for e in padded]
        [(1, True), (2, True), (0, False)]
    """

    def pad(dataset: Dataset) -> Dataset:
        have, want = dataset._size, int(cardinality)
        if not 0 <= have <= want:
            raise ValueError(
                f"pad_to_cardinality: the dataset must have a known number of at most {want} "
                f"elements. Its cardinality is {have}."
            )
        spec = dataset.element_spec
        if not isinstance(spec, Mapping):
            raise ValueError(f"pad_to_cardinality: elements must be dicts. Received {spec}.")
        filler = map_element(lambda one: zeros(one.shape, one.dtype), spec)
        padding = Dataset.from_tensors({**filler, mask_key: False}).repeat(want - have)
        return dataset.map(lambda element: {**element, mask_key: True}).concatenate(padding)

    return pad


@public
def parallel_interleave(
    map_func: Any,
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool | None = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`Dataset.interleave` as a transformation for `apply`.

    Args:
        map_func: function of an element that returns a Dataset.
        cycle_length: the number of datasets to interleave.
        block_length: the number of elements to take from a dataset before the next one.
        sloppy: has no effect here: the order is always kept.
        buffer_output_elements: has no effect here.
        prefetch_input_elements: has no effect here.

    Returns:
        A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)
