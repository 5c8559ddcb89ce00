"""Transformations that store elements: prefetch, cache, snapshot, save and load."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, NotFoundError, public
from gradtape.files.access import as_path
from gradtape.pipeline.base import AUTOTUNE, DatasetBase, as_python_int, make_dataset
from gradtape.pipeline.element_type import E
from gradtape.pipeline.source import element_file
from gradtape.pipeline.source.snapshot import Snapshot
from gradtape.pipeline.transformation.random_choice import CachedRandomSource
from gradtape.pipeline.worker import AUTOTUNE_BUFFER_SIZE, AdaptivePrefetcher, Prefetcher

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

ELEMENTS_FILE, SPEC_FILE = "elements.tfrecord", "spec.json"


class BufferMethods(DatasetBase[E]):
    """Methods of a dataset that store elements."""

    @public
    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset[E]:
        """The same elements; a thread computes up to `buffer_size` of them in advance.

        The thread starts when the first element of an iterator is read. It ends after the last
        element, or when the iterator is dropped.

        Args:
            buffer_size: number of elements; AUTOTUNE uses a default, 0 disables prefetching.
            name: ignored.

        Returns:
            A Dataset.
        """
        size = as_python_int(buffer_size)
        if size < AUTOTUNE:
            raise InvalidArgumentError(
                f"prefetch: buffer_size must be >= 0 or -1 for auto-tuning. Received {size}."
            )
        room = AUTOTUNE_BUFFER_SIZE if size == AUTOTUNE else size
        dataset = self._transform(lambda items: items, None, self._size)

        def start() -> Iterator[Any]:
            is_pure, items = self._is_pure(), self._start()
            return (
                items
                if not room
                else AdaptivePrefetcher(items, room)
                if is_pure
                else Prefetcher(items, room)
            )

        dataset._start, dataset._is_pure = start, self._is_pure
        return dataset._label_as("_PrefetchDataset")

    @public
    def cache(self, filename: Any = "", name: str | None = None) -> Dataset[E]:
        """The same elements, cached in memory or in a file after the first complete iteration.

        Args:
            filename: path of the cache file; if empty, the cache is in memory.
            name: ignored.

        Returns:
            A Dataset.

        Note:
            TensorFlow cannot read the file.
        """
        path = as_path(filename)
        memory: list[list[Any]] = []  # contains one list, once that is complete
        kept = [CachedRandomSource(seeds, memory) for seeds in self._random_sources]

        def remember(items: Iterator[Any], places: list[Any]) -> Iterator[Any]:
            elements: list[Any] = []

            def complete() -> None:
                for seeds, place in zip(kept, places, strict=True):
                    seeds.cached_position = place
                memory[:] = [elements]

            for element in items:
                elements.append(element)
                if len(elements) == self._size:
                    complete()
                yield element
            complete()

        def start() -> Iterator[Any]:
            if path:
                file = f"{path}.{ELEMENTS_FILE}"
                if os.path.exists(file):
                    return element_file.read_elements(file, self.element_spec)
                return element_file.write_through(self._start(), file)
            if memory:
                return iter(memory[0])
            places = [seeds.position() for seeds in self._random_sources]
            return remember(self._start(), places)

        dataset = make_dataset(start, self._get_element_spec, self._size, self._options)
        dataset._is_pure = lambda: not path and (bool(memory) or self._is_pure())
        dataset._has_ragged_rows, dataset._inputs = self._has_ragged_rows, (self,)
        return dataset._label_as("CacheDataset", *kept)

    @public
    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Any = None,
        shard_func: Any = None,
        name: str | None = None,
    ) -> Dataset[E]:
        """The same elements; the first complete iteration writes files, later ones read them.

        Args:
            path: a folder, which is created.
            compression: ignored.
            reader_func: function that combines a dataset of datasets, one for each file, to one
                dataset; by default they are interleaved.
            shard_func: function of an element that returns its file number, a scalar int64.
            name: ignored.

        Returns:
            A Dataset.

        Note:
            TensorFlow cannot read the files. They are identified by the element spec and the number
            of elements only: use another `path` when the functions of the dataset change.
        """
        folder: Any = convert(path).numpy()
        kept = Snapshot(self, os.fsdecode(folder), shard_func, reader_func)
        dataset = make_dataset(
            kept.start, self._get_element_spec, self._size, self._options, [self]
        )
        return dataset._label_as("_MapDataset")

    @public
    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Any = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements to a folder, for `load`.

        Args:
            path: the folder, which is created.
            compression: must be None.
            shard_func: must be None.
            checkpoint_args: must be None.

        Returns:
            None.

        Note:
            TensorFlow cannot read the files.
        """
        if compression is not None or shard_func is not None or checkpoint_args is not None:
            raise NotImplementedError(
                "Dataset.save: only `path` is supported. Leave the other arguments None."
            )
        folder = as_path(path)
        os.makedirs(folder, exist_ok=True)
        about = {"spec": element_file.spec_to_json(self.element_spec), "size": self._size}
        for _ in element_file.write_through(iter(self), os.path.join(folder, ELEMENTS_FILE)):
            pass
        with open(os.path.join(folder, SPEC_FILE), "w", encoding="utf-8") as file:
            json.dump(about, file)

    @staticmethod
    @public
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Any = None,
        wait: bool = False,
    ) -> Dataset:
        """The dataset that `save` wrote.

        Args:
            path: the folder.
            element_spec: spec of the elements; if None, the saved one.
            compression: must be None.
            reader_func: must be None.
            wait: must be False.

        Returns:
            A Dataset.

        Raises:
            NotFoundError: if there is no saved dataset.
            DataLossError: here or during an iteration, if its files are truncated or corrupt.
        """
        if compression is not None or reader_func is not None or wait:
            raise NotImplementedError("Dataset.load: only `path` and `element_spec` are supported.")
        folder = as_path(path)
        description = os.path.join(folder, SPEC_FILE)
        if not os.path.exists(description):
            raise NotFoundError(f"Dataset.load: there is no saved dataset in {folder}.")
        saved, size = element_file.read_description(description)
        spec = saved if element_spec is None else element_spec
        elements = os.path.join(folder, ELEMENTS_FILE)
        element_file.check_element_count(elements, saved, size)
        return make_dataset(
            lambda: element_file.read_elements(elements, spec, size),
            lambda: spec,
            size,
        )
