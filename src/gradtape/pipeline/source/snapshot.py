"""Snapshots: the first complete iteration writes elements to files, later ones read them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from gradtape.core.errors import InvalidArgumentError
from gradtape.pipeline.base import UNKNOWN, made
from gradtape.pipeline.source import element_file
from gradtape.pipeline.user_function import Traced

COMPLETE = "complete.json"  # written last: all files are complete


class Snapshot:
    """The elements of a dataset in a folder below `path`."""

    def __init__(self, dataset: Any, path: str, shard_func: Any, reader_func: Any) -> None:
        """Files are written by the first iteration."""
        self.dataset, self.path = dataset, path
        self.shard = None if shard_func is None else Traced(shard_func)
        self.reader = reader_func

    def folder(self) -> str:
        """The folder for elements of this spec and number."""
        about = json.dumps([element_file.described(self.dataset.element_spec), self.dataset._size])
        return os.path.join(self.path, hashlib.sha256(about.encode()).hexdigest()[:16])

    def start(self) -> Iterator[Any]:
        """Start an iteration: read the files if they are complete, otherwise write them."""
        folder = self.folder()
        try:
            with open(os.path.join(folder, COMPLETE), encoding="utf-8") as file:
                names = json.load(file)
        except FileNotFoundError:
            return self.written(self.dataset._start(), folder)
        return self.read([os.path.join(folder, name) for name in names])

    def read(self, paths: list[str]) -> Iterator[Any]:
        """Start an iteration over the elements of the files."""
        spec = self.dataset.element_spec

        def shard(path: str) -> Any:
            return made(lambda: element_file.read(path, spec), lambda: spec, UNKNOWN)

        shards = [shard(path) for path in paths]
        if self.reader is not None:
            kind = made(lambda: iter(()), lambda: spec, UNKNOWN)._type_spec
            dataset = self.reader(made(lambda: iter(shards), lambda: kind, len(shards)))
            elements: Iterator[Any] = dataset._start()
            return elements
        return in_turns([one._start() for one in shards])

    def written(self, items: Iterator[Any], folder: str) -> Iterator[Any]:
        """Yield `items` and write them; the snapshot is complete once all were read."""
        os.makedirs(folder, exist_ok=True)
        files: dict[int, element_file.Writing] = {}
        complete = False
        try:
            for element in items:
                number = 0 if self.shard is None else shard_of(self.shard.of(element))
                if number not in files:
                    name = f"{number:08d}.{os.getpid()}.{id(files)}"
                    files[number] = element_file.Writing(os.path.join(folder, name))
                files[number].write(element)
                yield element
            complete = True
        finally:
            for file in files.values():
                file.finish() if complete else file.give_up()
        names = [os.path.basename(files[number].path) for number in sorted(files)]
        part = os.path.join(folder, f"{COMPLETE}.{os.getpid()}.{id(files)}")
        with open(part, "w", encoding="utf-8") as mark:
            json.dump(names, mark)
        os.replace(part, os.path.join(folder, COMPLETE))


def shard_of(given: Any) -> int:
    """Check the file number that the user's function returned."""
    number = int(given)
    if number < 0:
        raise InvalidArgumentError(
            f"snapshot: `shard_func` must return a non-negative number. Received {number}."
        )
    return number


def in_turns(sources: list[Iterator[Any]]) -> Iterator[Any]:
    """Yield one item of each source in turn; exhausted sources are skipped."""
    left = len(sources)
    ended = [False] * left
    for i in cycle(range(len(sources))):
        if ended[i]:
            continue
        for item in sources[i]:
            yield item
            break
        else:
            ended[i] = True
            left -= 1
            if not left:
                return
