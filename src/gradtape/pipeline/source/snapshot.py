"""Snapshots: the first complete iteration writes elements to files, later ones read them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from gradtape.core.errors import InvalidArgumentError, NotFoundError
from gradtape.files.access import translate_os_errors
from gradtape.pipeline.base import UNKNOWN, make_dataset
from gradtape.pipeline.source import element_file
from gradtape.pipeline.user_function import UserFunction

COMPLETE_FILE = "complete.json"  # written last: all files are complete


class Snapshot:
    """The elements of a dataset in a folder below `path`."""

    def __init__(self, dataset: Any, path: str, shard_func: Any, reader_func: Any) -> None:
        """Files are written by the first iteration."""
        self.dataset, self.path = dataset, path
        self.shard_function = None if shard_func is None else UserFunction(shard_func)
        self.reader_function = reader_func

    def folder(self) -> str:
        """The folder for elements of this spec and number."""
        about = json.dumps(
            [element_file.spec_to_json(self.dataset.element_spec), self.dataset._size]
        )
        return os.path.join(self.path, hashlib.sha256(about.encode()).hexdigest()[:16])

    def start(self) -> Iterator[Any]:
        """Start an iteration: read the files if they are complete, otherwise write them."""
        folder = self.folder()
        mark = os.path.join(folder, COMPLETE_FILE)
        try:
            with translate_os_errors(mark), open(mark, "rb") as file:
                text = file.read()
        except NotFoundError:
            return self.write_files(self.dataset._start(), folder)
        return self.read_files(parse_file_names(text, folder, mark))

    def read_files(self, paths: list[str]) -> Iterator[Any]:
        """Start an iteration over the elements of the files."""
        spec = self.dataset.element_spec

        def shard(path: str) -> Any:
            return make_dataset(
                lambda: element_file.read_elements(path, spec), lambda: spec, UNKNOWN
            )

        shards = [shard(path) for path in paths]
        if self.reader_function is not None:
            kind = make_dataset(lambda: iter(()), lambda: spec, UNKNOWN)._type_spec
            dataset = self.reader_function(
                make_dataset(lambda: iter(shards), lambda: kind, len(shards))
            )
            elements: Iterator[Any] = dataset._start()
            return elements
        return interleave_sources([one._start() for one in shards])

    def write_files(self, items: Iterator[Any], folder: str) -> Iterator[Any]:
        """Yield `items` and write them; the snapshot is complete once all were read."""
        os.makedirs(folder, exist_ok=True)
        files: dict[int, element_file.ElementWriter] = {}
        complete = False
        try:
            for element in items:
                number = (
                    0
                    if self.shard_function is None
                    else check_shard_number(self.shard_function.apply(element))
                )
                if number not in files:
                    name = f"{number:08d}.{os.getpid()}.{id(files)}"
                    files[number] = element_file.ElementWriter(os.path.join(folder, name))
                files[number].write(element)
                yield element
            complete = True
        finally:
            for file in files.values():
                file.commit() if complete else file.discard()
        names = [os.path.basename(files[number].path) for number in sorted(files)]
        part = os.path.join(folder, f"{COMPLETE_FILE}.{os.getpid()}.{id(files)}")
        with open(part, "w", encoding="utf-8") as mark:
            json.dump(names, mark)
        os.replace(part, os.path.join(folder, COMPLETE_FILE))


def parse_file_names(text: bytes, folder: str, mark: str) -> list[str]:
    """The paths of the files that a complete snapshot lists; all are in its folder."""
    names = element_file.parse_json(text, mark)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise element_file.element_error(mark, f"{names!s:.100} in place of file names")
    if any(os.path.basename(name) != name for name in names):
        raise element_file.element_error(mark, f"a file outside of its folder in {names!s:.100}")
    return [os.path.join(folder, name) for name in names]


def check_shard_number(given: Any) -> int:
    """Check the file number that the user's function returned."""
    number = int(given)
    if number < 0:
        raise InvalidArgumentError(
            f"snapshot: `shard_func` must return a non-negative number. Received {number}."
        )
    return number


def interleave_sources(sources: list[Iterator[Any]]) -> Iterator[Any]:
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
