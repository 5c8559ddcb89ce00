"""The batch size of a dataset, found without an iteration."""

from __future__ import annotations

from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.tensor import Tensor
from gradtape.pipeline.base import DatasetBase, as_static_size
from gradtape.pipeline.element.structure import flatten_element

UNKNOWN_BATCH_SIZE = -1
# Datasets whose elements have as many rows as those of all their inputs, by TensorFlow's names
KEEP_ROWS = {
    "CacheDataset",
    "_AssertCardinalityDataset",
    "_ConcatenateDataset",
    "_FilterDataset",
    "_OptionsDataset",
    "_PrefetchDataset",
    "_RepeatDataset",
    "_ShardDataset",
    "_ShuffleDataset",
    "_SkipDataset",
    "_TakeDataset",
    "_ZipDataset",
}


def compute_batch_size(dataset: DatasetBase) -> Tensor:
    """The number of rows of a full batch, as a scalar; -1 if it is unknown.

    The element spec decides if it has all numbers of rows. Otherwise the dataset must come from one
    that makes batches, by transformations that keep the number of rows.
    """
    specs = flatten_element(dataset.element_spec)
    rows = [count_spec_rows(spec) for spec in specs]
    if None in rows or not rows:
        return convert(find_batch_size(dataset), int64)
    return convert(rows[0] if len(set(rows)) == 1 else UNKNOWN_BATCH_SIZE, int64)


def count_spec_rows(spec: object) -> int | None:
    """The first size of a spec; None if it is unknown or there is none."""
    shape = getattr(spec, "shape", None)
    return as_static_size(shape[0]) if shape is not None and shape.rank else None


def find_batch_size(dataset: DatasetBase) -> int:
    """The size of batches that a dataset or its inputs make; -1 if it is unknown."""
    if dataset._batch_size is not None:
        return dataset._batch_size
    if dataset._tensorflow_name not in KEEP_ROWS or not dataset._inputs:
        return UNKNOWN_BATCH_SIZE
    sizes = {find_batch_size(before) for before in dataset._inputs}
    return sizes.pop() if len(sizes) == 1 else UNKNOWN_BATCH_SIZE
