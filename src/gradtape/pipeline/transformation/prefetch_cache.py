"""Elements made ahead of time, kept, saved and loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, NotFoundError, public
from gradtape.pipeline.base import AUTOTUNE, UNKNOWN, Base, made, whole
from gradtape.pipeline.source import element_file
from gradtape.pipeline.source.snapshot import Snapshot
from gradtape.pipeline.transformation.random_choice import Kept
from gradtape.pipeline.worker import AUTOMATIC, Ahead, Prompt

if TYPE_CHECKING:
    from gradtape.pipeline.dataset import Dataset

ELEMENTS, SPEC = "elements.tfrecord", "spec.json"


class Buffers(Base):
    """The methods that hold elements."""

    @public
    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset:
        """The same elements, up to `buffer_size` of them made ahead of time by a thread.

        The thread begins with the first element that is drawn from an iterator, and ends with the
        elements or with the iterator.

        Args:
            buffer_size: how many; AUTOTUNE leaves it to us, 0 makes nothing ahead.
            name: accepted for TensorFlow's sake.
        """
        size = whole(buffer_size)
        if size < AUTOTUNE:
            raise InvalidArgumentError(
                f"prefetch: buffer_size must be >= 0 or -1 for auto-tuning. Received {size}."
            )
        room = AUTOMATIC if size == AUTOTUNE else size
        made = self._with(lambda items: items, None, self._size)

        def start() -> Iterator[Any]:
            quiet, items = self._quiet(), self._start()
            return items if not room else Prompt(items, room) if quiet else Ahead(items, room)

        made._start, made._quiet = start, self._quiet
        return made._as("_PrefetchDataset")

    @public
    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The same elements, kept in memory or in a file once a pass has been complete.

        Args:
            filename: where to keep them; in memory if empty.
            name: accepted for TensorFlow's sake.

        Note:
            The file is not one that TensorFlow reads.
        """
        path = filename.numpy() if hasattr(filename, "numpy") else filename
        path = os.fsdecode(path)
        memory: list[list[Any]] = []  # one list, once it is complete
        kept = [Kept(seeds, memory) for seeds in self._seeds]

        def remembered(items: Iterator[Any], places: list[Any]) -> Iterator[Any]:
            elements: list[Any] = []

            def complete() -> None:
                for seeds, place in zip(kept, places, strict=True):
                    seeds.at = place
                memory[:] = [elements]

            for element in items:
                elements.append(element)
                if len(elements) == self._size:
                    complete()
                yield element
            complete()

        def start() -> Iterator[Any]:
            if path:
                file = f"{path}.{ELEMENTS}"
                if os.path.exists(file):
                    return element_file.read(file, self.element_spec)
                return element_file.written(self._start(), file)
            if memory:
                return iter(memory[0])
            places = [seeds.place() for seeds in self._seeds]
            return remembered(self._start(), places)

        dataset = made(start, self._own_spec, self._size, self._options)
        dataset._quiet = lambda: not path and (bool(memory) or self._quiet())
        dataset._ragged = self._ragged
        return dataset._as("CacheDataset", *kept)

    @public
    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Any = None,
        shard_func: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The same elements, which a first complete pass writes and later ones read.

        Args:
            path: a folder, which is made.
            compression: accepted for TensorFlow's sake.
            reader_func: function of a dataset of datasets, one for each file, that puts them
                together; by default they are read in turns.
            shard_func: function of an element that gives the number of its file, a scalar int64.
            name: accepted for TensorFlow's sake.

        Note:
            The files are not those of TensorFlow. They belong to the kind of elements and their
            number, not to the functions before: give another `path` when those change.
        """
        kept = Snapshot(self, os.fsdecode(convert(path).numpy()), shard_func, reader_func)
        dataset = made(kept.start, self._own_spec, self._size, self._options, [self])
        return dataset._as("_MapDataset")

    @public
    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Any = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements into a folder, for `load`.

        Args:
            path: the folder, which is made.
            compression: must be None.
            shard_func: must be None.
            checkpoint_args: must be None.

        Note:
            The files are not those of TensorFlow.
        """
        if compression is not None or shard_func is not None or checkpoint_args is not None:
            raise NotImplementedError("Dataset.save: only `path` may be given.")
        folder = os.fspath(path)
        os.makedirs(folder, exist_ok=True)
        about = {"spec": element_file.described(self.element_spec), "size": self._size}
        for _ in element_file.written(iter(self), os.path.join(folder, ELEMENTS)):
            pass
        with open(os.path.join(folder, SPEC), "w", encoding="utf-8") as file:
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
            element_spec: what describes the elements; as saved if None.
            compression: must be None.
            reader_func: must be None.
            wait: must be False.

        Raises:
            NotFoundError: if there is none.
        """
        if compression is not None or reader_func is not None or wait:
            raise NotImplementedError("Dataset.load: only `path` and `element_spec` may be given.")
        folder = os.fspath(path)
        description = os.path.join(folder, SPEC)
        if not os.path.exists(description):
            raise NotFoundError(f"Dataset.load: there is no saved dataset in {folder}.")
        with open(description, encoding="utf-8") as file:
            about = json.load(file)
        spec = element_file.undescribed(about["spec"]) if element_spec is None else element_spec
        size = about["size"] if about["size"] >= 0 else UNKNOWN
        return made(
            lambda: element_file.read(os.path.join(folder, ELEMENTS), spec), lambda: spec, size
        )
