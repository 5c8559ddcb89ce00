"""Datasets: lazily computed sequences of elements.

A dataset has a function that starts an iteration, a function that returns the element spec, and a
size. Its methods make other datasets; they are defined by subject in `source/` and
`transformation/`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.argument import check_callable
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.errors import FailedPreconditionError, InvalidArgumentError, public
from gradtape.core.ports import make_html
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TypeSpec
from gradtape.core.tensor import Tensor
from gradtape.pipeline.base import INFINITE, DatasetBase, as_python_int, make_dataset
from gradtape.pipeline.element.element import END
from gradtape.pipeline.element_type import E
from gradtape.pipeline.graph_iterator import TracedIterator
from gradtape.pipeline.iterator import Iterator, NumpyIterator
from gradtape.pipeline.options import Options
from gradtape.pipeline.source.combination import CombinationMethods
from gradtape.pipeline.source.constructor import SourceMethods
from gradtape.pipeline.transformation.batch import BatchMethods
from gradtape.pipeline.transformation.map import MapMethods
from gradtape.pipeline.transformation.order import OrderMethods
from gradtape.pipeline.transformation.prefetch_cache import BufferMethods
from gradtape.pipeline.transformation.rejection_resample import ResampleMethods
from gradtape.pipeline.transformation.window import WindowMethods


class Dataset(
    SourceMethods[E],
    CombinationMethods[E],
    OrderMethods[E],
    BatchMethods[E],
    MapMethods[E],
    WindowMethods[E],
    BufferMethods[E],
    ResampleMethods[E],
):
    """A lazily computed sequence of elements, each a structure of tensors.

    Example:
        >>> dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
        >>> [batch.numpy().tolist() for batch in dataset]
        [[0, 1], [4, 9], [16]]
    """

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def __iter__(self) -> Iterator[E]:
        """Start an iteration over the elements."""
        stage = current_trace()
        if stage:
            return TracedIterator(stage[0], self)  # type: ignore[return-value]
        return Iterator(self)

    def __bool__(self) -> bool:
        """True, also without elements."""
        return True

    def __len__(self) -> int:
        """The number of elements.

        Raises:
            TypeError: if it is unknown or infinite.
        """
        if self._size < 0:
            what = "dataset is infinite" if self._size == INFINITE else "dataset length is unknown"
            raise TypeError(f"The {what}.")
        return self._size

    _repr_html_ = make_html

    def __repr__(self) -> str:
        """Show the element spec."""
        return f"<{self._tensorflow_name} element_spec={self.element_spec}>"

    def cardinality(self) -> Tensor:
        """The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

        Returns:
            A scalar tensor of int64.
        """
        return convert(np.int64(self._size))

    def as_numpy_iterator(self) -> NumpyIterator:
        """An iterator over the elements as NumPy arrays.

        Returns:
            An iterator. Tensors in nested structures become arrays, too.

        >>> print([int(x) for x in tf.data.Dataset.range(3).as_numpy_iterator()])
        [0, 1, 2]
        """
        return NumpyIterator(self)

    def options(self) -> Options:
        """The options of this dataset; read-only, but they can be merged with others.

        Returns:
            An `Options` object.
        """
        return self._options._copy_frozen()

    def with_options(self, options: Options, name: str | None = None) -> Dataset[E]:
        """The same dataset with `options` set.

        Args:
            options: the options to set; those that are unset keep their values.
            name: ignored.

        Returns:
            A `Dataset`.
        """
        if not isinstance(options, Options):
            raise TypeError(f"with_options: expected tf.data.Options. Received {type(options)}.")
        merged = self._options.merge(options)
        dataset = make_dataset(self._start, self._get_element_spec, self._size, merged, [self])
        dataset._find_rows, dataset._is_pure = self._find_rows, self._is_pure
        return dataset._label_as("_OptionsDataset")

    @public
    def apply(self, transformation_func: Any) -> Dataset:
        """The dataset `transformation_func(self)`.

        Args:
            transformation_func: a function that takes a dataset and returns one.

        Returns:
            The dataset that the function returned.

        Raises:
            TypeError: if that is not a dataset.
        """
        check_callable(transformation_func, "transformation_func")
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "apply: `transformation_func` must return a `tf.data.Dataset` object. "
                f"Got {type(dataset)}."
            )
        return dataset

    @public
    def get_single_element(self, name: str | None = None) -> E:
        """The only element.

        Args:
            name: ignored.

        Returns:
            The element: a tensor or a nested structure of tensors.

        Raises:
            InvalidArgumentError: if there is no element, or more than one.
        """
        elements: Any = iter(self)
        if getattr(elements, "has_no_values", False):
            return elements.get_next()
        found: Any = next(elements, END)
        if found is END:
            raise InvalidArgumentError("get_single_element: Dataset was empty.")
        if next(elements, END) is not END:
            raise InvalidArgumentError("get_single_element: Dataset had more than one element.")
        return found


DatasetBase.dataset_class = Dataset


class DatasetSpec(TypeSpec):
    """The spec of a dataset, which contains the element spec."""

    __slots__ = ("_element_spec",)

    @public
    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        """Describe datasets with this element spec."""
        self._element_spec = element_spec

    @staticmethod
    @public
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a value.

        Args:
            value: a Dataset.

        Returns:
            A new `DatasetSpec`.
        """
        return DatasetSpec(value.element_spec)

    @property
    def value_type(self) -> Any:
        """The class Dataset."""
        return Dataset

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        return self._element_spec

    @property
    def _component_specs(self) -> Any:
        return self._element_spec

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, TensorShape(())


@public
def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """Transformation for `apply` that sets the cardinality and checks it.

    Args:
        expected_cardinality: the number, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

    Returns:
        A function from dataset to dataset. Iterating over a dataset with another number of elements
        raises FailedPreconditionError.
    """
    size = as_python_int(expected_cardinality)

    def check_count(items: Any) -> Any:
        count = 0
        for element in items:
            if 0 <= size <= count:
                raise FailedPreconditionError(
                    f"assert_cardinality: Input dataset was expected to contain {size} elements "
                    f"but contained at least {count + 1} elements."
                )
            count += 1
            yield element
        if size >= 0 and count < size:
            raise FailedPreconditionError(
                f"assert_cardinality: Input dataset was expected to contain {size} elements but "
                f"contained only {count} elements."
            )
        if size == INFINITE:
            raise FailedPreconditionError(
                "assert_cardinality: Input dataset was expected to be infinite but contained "
                f"{count} elements."
            )

    return lambda dataset: dataset._transform(check_count, None, size)._label_as(
        "_AssertCardinalityDataset"
    )
