"""Division of files among workers: each worker reads every n-th file of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from gradtape.pipeline.iteration import current_iteration


class FilePoint:
    """The place in a pipeline where names of files become their contents.

    Attributes:
        count: returns the number of names; negative if it is infinite or unknown.
        reads_files: returns whether the names are those of files.
    """

    def __init__(
        self, count: Callable[[], int], reads_files: Callable[[], bool] = lambda: True
    ) -> None:
        """Describe the place; both functions are called when a dataset is distributed."""
        self.count = count
        self.reads_files = reads_files

    def divide(self, names: Iterator[Any]) -> Iterator[Any]:
        """The names that the current iteration reads."""
        iteration = current_iteration.active
        shard = iteration.file_shard if iteration is not None else None
        if shard is None or shard[0] is not self:
            return names
        return islice(names, shard[1], None, shard[2])


def start_with_shard(
    start: Callable[[], Iterator[Any]], point: FilePoint | None, index: int, count: int
) -> Iterator[Any]:
    """Start an iteration that reads every `count`-th file from file `index`; all if no point."""
    assert current_iteration.active is not None
    current_iteration.active.file_shard = point, index, count
    return start()
