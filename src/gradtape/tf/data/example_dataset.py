"""tf.data.experimental: datasets of parsed Examples, and TFRecord files of datasets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import describe
from gradtape.core.errors import public
from gradtape.core.spec import TensorSpec
from gradtape.files.access import as_path
from gradtape.pipeline.base import AUTOTUNE
from gradtape.pipeline.dataset import Dataset
from gradtape.pipeline.source.file_dataset import TFRecordDataset
from gradtape.tf.io.parse_example import parse_example
from gradtape.tf.io.tfrecord import TFRecordWriter as RecordFileWriter

STRINGS = TensorSpec([None], dtypes.string)
STRING = TensorSpec([], dtypes.string)


@public
def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """`tf.io.parse_example` of each element, as a transformation for `apply`.

    Args:
        features: descriptions by name, as in `tf.io.parse_example`.
        num_parallel_calls: the number of threads.
        deterministic: has no effect here: the order is always kept.

    Returns:
        A function for `Dataset.apply`, for datasets of vectors of strings.
    """
    if features is None:
        raise ValueError("parse_example_dataset: features is required. Received None.")

    def parse(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(STRINGS):
            raise TypeError(
                "parse_example_dataset: the dataset must have vectors of strings. Received "
                f"{spec}. Call batch first."
            )
        return dataset.map(lambda text: parse_example(text, features), num_parallel_calls)

    return parse


@public
def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of parsed Examples from files.

    Args:
        file_pattern: a pattern of file names, or a list of them.
        batch_size: the number of Examples of a batch.
        features: descriptions by name, as in `tf.io.parse_example`.
        reader: a function of a file name that returns a dataset of strings, or of pairs with a
            string as the second; by default TFRecordDataset.
        label_key: the feature to return as the label, or None.
        reader_args: further arguments of `reader`.
        num_epochs: how often to repeat the files; for ever if None.
        shuffle: whether to shuffle files and Examples.
        shuffle_buffer_size: the number of Examples to draw from.
        shuffle_seed: an integer or None.
        prefetch_buffer_size: as in `Dataset.prefetch`; AUTOTUNE if None.
        reader_num_threads: the number of files to interleave; 1 if None.
        parser_num_threads: the number of threads that parse; 2 if None.
        sloppy_ordering: has no effect here: the order is always kept.
        drop_final_batch: whether to drop a last batch that is smaller.

    Returns:
        A Dataset of dicts, or of pairs of a dict and a label.
    """
    if label_key and label_key not in features:
        raise ValueError(
            f"make_batched_features_dataset: label_key must be one of {list(features)}. "
            f"Received {label_key!r}."
        )
    read, more = reader or TFRecordDataset, list(reader_args or ())
    files = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    cycle = 1 if reader_num_threads is None else reader_num_threads
    records = files.interleave(lambda name: read(name, *more), None if cycle == AUTOTUNE else cycle)
    if isinstance(records.element_spec, tuple):
        records = records.map(lambda _, text: text)
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
    batches = records.batch(batch_size, drop_final_batch or num_epochs is None)
    parsed = batches.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key:
        parsed = parsed.map(lambda found: (without_key(found, label_key), found[label_key]))
    return parsed.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def without_key(found: dict[str, Any], key: str) -> dict[str, Any]:
    """A dict without one of its keys."""
    return {name: value for name, value in found.items() if name != key}


class TFRecordWriter:
    """Writes the strings of a dataset to a TFRecord file.

    Args:
        filename: the file; an existing one is overwritten.
        compression_type: None, "", "ZLIB" or "GZIP".
    """

    @public
    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        """The file is opened by `write`."""
        self._filename, self._compression = filename, compression_type

    @public
    def write(self, dataset: Dataset) -> None:
        """Write the elements of `dataset`, which must be scalar strings.

        Args:
            dataset: a Dataset.

        Raises:
            TypeError: if it is not a dataset of scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"write: dataset must be a Dataset. Received {describe(dataset)}.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(STRING):
            raise TypeError(
                f"write: the dataset must have scalar strings. Received {spec}. Map "
                "tf.io.serialize_tensor over it first."
            )
        with RecordFileWriter(as_path(self._filename), self._compression) as writer:
            for text in dataset:
                writer.write(text)
