"""CheckpointManager: keep the latest checkpoints of a directory."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gradtape.core.argument import as_integer
from gradtape.core.errors import public
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.log import get_log
from gradtape.files import tensor_bundle
from gradtape.files.access import as_path
from gradtape.state.checkpoint.checkpoint import Checkpoint, CheckpointOptions
from gradtape.state.checkpoint.checkpoint_state import get_checkpoint_state, update_checkpoint_state

SECONDS_PER_HOUR = 3600
DATA_FILE_SUFFIX = re.compile(r"\.data-[0-9]{5}-of-[0-9]{5}")


class CheckpointManager:
    """Saves numbered checkpoints in a directory and deletes old ones.

    Args:
        checkpoint: the Checkpoint to save and restore.
        directory: where to save; used by this manager only, which owns the file `checkpoint`.
        max_to_keep: how many checkpoints to keep; None keeps all.
        keep_checkpoint_every_n_hours: in addition, keep one checkpoint per interval forever.
        checkpoint_name: prefix of the file names.
        step_counter: a variable that counts steps.
        checkpoint_interval: minimum number of steps between two checkpoints.
        init_fn: called by `restore_or_initialize` if there is no checkpoint.
        last_checkpoint_step: value of the counter at the last checkpoint.

    Raises:
        ValueError: if `max_to_keep` is not positive, or an interval is given without a counter.

    Example:
        >>> import tempfile
        >>> step = tf.Variable(0)
        >>> manager = tf.train.CheckpointManager(
        ...     tf.train.Checkpoint(step=step), tempfile.mkdtemp(), max_to_keep=2)
        >>> [manager.save()[-6:] for _ in range(3)], len(manager.checkpoints)
        (['ckpt-1', 'ckpt-2', 'ckpt-3'], 2)
    """

    @public
    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = as_path(directory)
        self._max_to_keep = max_to_keep
        self._keep_every_n_hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._latest: str | None = None
        self._times_by_path: dict[str, float] = {}  # path → time of saving, the oldest first
        now = time.time()
        self._last_preserved = now - 1  # before the first checkpoint
        self._recover(now)

    def _recover(self, now: float) -> None:
        """Load the state that an earlier manager of the directory wrote."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        self._latest = state.model_checkpoint_path
        self._last_preserved = state.last_preserved_timestamp or self._last_preserved
        times = list(state.all_model_checkpoint_timestamps)
        paths = list(state.all_model_checkpoint_paths)
        if len(times) != len(paths):
            times = [now] * len(paths)
        self._times_by_path = {
            path: min(when, now) for path, when in zip(paths, times, strict=True)
        }

    @property
    def directory(self) -> str:
        """Where checkpoints are saved."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """The Checkpoint that is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """Minimum number of steps between two checkpoints."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """Paths of the checkpoints, the oldest first, without those that are kept forever."""
        return list(self._times_by_path)

    @property
    def latest_checkpoint(self) -> str | None:
        """Path of the latest checkpoint, possibly of an earlier process; None if there is none."""
        return self._latest

    @public
    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Save a checkpoint, and delete old ones.

        Args:
            checkpoint_number: the number in its name, by default the save counter.
            check_interval: whether to skip saving before `checkpoint_interval` steps have passed.
            options: a CheckpointOptions.

        Returns:
            The path; None if the interval has not passed.
        """
        if self._interval is not None:
            step = int(self._step_counter)
            since = None if self._last_step is None else step - self._last_step
            if check_interval and since is not None and since < self._interval:
                return None
        number = checkpoint_number
        if number is not None:
            number = as_integer(number, "checkpoint_number")
        path = self._checkpoint._write_with_number(self._prefix, number, options)
        if self._interval is not None:
            self._last_step = step
        self._times_by_path.pop(path, None)  # moves an existing path to the end
        self._times_by_path[path] = time.time()
        self._latest = path
        self._write_state()  # before old files are deleted
        if self._delete_old():
            self._write_state()
        return path

    def _write_state(self) -> None:
        """Write the list of checkpoints to the state file."""
        if self._latest is not None:
            paths, times = list(self._times_by_path), list(self._times_by_path.values())
            update_checkpoint_state(
                self._directory, self._latest, paths, times, self._last_preserved
            )

    def _delete_old(self) -> bool:
        """Delete the oldest checkpoints above the limit; return whether there were any."""
        if not self._max_to_keep or len(self._times_by_path) <= self._max_to_keep:
            return False
        while len(self._times_by_path) > self._max_to_keep:
            path = next(iter(self._times_by_path))
            when = self._times_by_path.pop(path)
            hours = self._keep_every_n_hours
            if hours and when - hours * SECONDS_PER_HOUR >= self._last_preserved:
                self._last_preserved = when  # kept forever
                continue
            if is_inside(path, self._directory):
                delete_checkpoint(path)
            else:  # the state file may come from elsewhere
                get_log().warning("%s is not in %s and is not deleted", path, self._directory)
        return True

    @public
    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint, or call `init_fn` if there is none.

        Returns:
            The path of the restored checkpoint, or None.
        """
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                self._last_step = int(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Do nothing: writing is synchronous."""


def delete_checkpoint(prefix: str) -> None:
    """Delete a checkpoint; its index file goes first, so that it is never half valid."""
    for name in (tensor_bundle.index_file(prefix), *find_data_files(prefix)):
        with suppress(FileNotFoundError):
            os.unlink(name)


def find_data_files(prefix: str) -> list[str]:
    """The data files of a checkpoint.

    `glob` would keep a compiled pattern for each checkpoint in its cache.
    """
    folder, start = os.path.split(prefix)
    try:
        names = os.listdir(folder or ".")
    except OSError as error:
        if is_from_signal_handler(error):
            raise
        return []
    return [
        os.path.join(folder, name)
        for name in names
        if name.startswith(start) and DATA_FILE_SUFFIX.fullmatch(name, len(start))
    ]


def is_inside(path: str, directory: str) -> bool:
    """Whether a path is below a directory."""
    here = os.path.abspath(directory)
    return os.path.commonpath([here, os.path.abspath(path)]) == here
