"""Preemption: all workers save a checkpoint and exit after one of them was told to stop."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from gradtape.compile.collective.process_group import connect_workers
from gradtape.core.errors import public
from gradtape.core.log import get_log
from gradtape.core.worker_group import WorkerGroup
from gradtape.state.checkpoint.checkpoint import Checkpoint
from gradtape.state.checkpoint.manager import CheckpointManager
from gradtape.state.variable.variable import Variable
from gradtape.tf.distribute.cluster_resolver import ClusterResolver, list_workers

RESTART_STATUS = 42
RUNS = "checkpointed_runs"  # the attribute of the checkpoint that counts calls of `run`
CONTINUE, SIGNALLED, TIME_IS_UP = range(3)


class TerminationConfig:
    """What a PreemptionCheckpointHandler does when a worker is told to stop.

    Args:
        termination_watcher_fn: returns True when this worker is to stop; None watches for SIGTERM.
        exit_fn: called after the checkpoint; None exits with status 42.
        grace_period: how many seconds this worker may go on training after the signal.
        save_fn: saves a checkpoint; None uses the handler's CheckpointManager.
    """

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None,
        save_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.termination_watcher_fn = termination_watcher_fn
        self.exit_fn = exit_fn
        self.grace_period = grace_period
        self.save_fn = save_fn


class PreemptionCheckpointHandler:
    """Saves a checkpoint when a worker is told to stop, and restores it after the restart.

    Call the training step through `run`. After each call the workers ask each other whether one of
    them got SIGTERM. If so, all of them save a checkpoint at the same step and exit.

    Args:
        cluster_resolver: names the workers.
        checkpoint_or_checkpoint_manager: what to save. The handler restores its latest checkpoint.
        checkpoint_dir: where the chief saves a Checkpoint; the other workers write to a temporary
            folder.
        termination_config: a TerminationConfig.

    Raises:
        ValueError: for a Checkpoint without `checkpoint_dir`.
    """

    @public
    def __init__(
        self,
        cluster_resolver: ClusterResolver,
        checkpoint_or_checkpoint_manager: Any,
        checkpoint_dir: str | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        self._group: WorkerGroup = connect_workers(*list_workers(cluster_resolver))
        self._config = termination_config or TerminationConfig()
        self._signalled_at: float | None = None
        self._has_saved_early = False
        self._runs = Variable(0, dtype=np.int64, trainable=False, name=RUNS)
        self._manager = self._make_manager(checkpoint_or_checkpoint_manager, checkpoint_dir)
        self._manager.restore_or_initialize()
        if self._config.termination_watcher_fn is None:
            with suppress(ValueError):  # only the main thread can handle signals
                signal.signal(signal.SIGTERM, self._note_signal)

    def _make_manager(self, given: Any, folder: str | None) -> CheckpointManager:
        """The manager that reads and, on the chief, writes checkpoints."""
        if isinstance(given, CheckpointManager):
            checkpoint = given.checkpoint
        elif isinstance(given, Checkpoint):
            checkpoint = given
        else:
            raise TypeError(
                "PreemptionCheckpointHandler: checkpoint_or_checkpoint_manager must be a "
                f"tf.train.Checkpoint or CheckpointManager. Received {type(given).__name__}."
            )
        if not hasattr(checkpoint, RUNS):
            setattr(checkpoint, RUNS, self._runs)
        self._runs = getattr(checkpoint, RUNS)
        if isinstance(given, CheckpointManager):
            return given
        if not folder:
            raise ValueError(
                "When a checkpoint is passed, a checkpoint_dir must be passed as well."
            )
        return CheckpointManager(checkpoint, folder, max_to_keep=1)

    def _note_signal(self, number: int, frame: Any) -> None:
        """Remember when this worker was told to stop."""
        if self._signalled_at is None:
            self._signalled_at = time.monotonic()

    @property
    def total_run_calls(self) -> int:
        """The number of calls of `run`, those before restarts included."""
        return int(self._runs.numpy())

    @public
    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run one training step, and save and exit if a worker was told to stop.

        Args:
            distributed_train_function: a function that runs the step on all replicas.
            *args: its arguments.
            **kwargs: its arguments by name.

        Returns:
            What the function returns.
        """
        result = distributed_train_function(*args, **kwargs)
        self._runs.assign_add(1)
        self.save_checkpoint_if_preempted()
        return result

    @public
    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Save a checkpoint and exit if a worker was told to stop; all workers must call this.

        Args:
            *args: arguments of `save_fn`.
            **kwargs: arguments of `save_fn` by name.
        """
        state = np.array([self._current_state()], np.int32)
        state = self._group.all_reduce([state], "MAX")[0]
        if state[0] == CONTINUE:
            return
        if state[0] == TIME_IS_UP or not self._has_saved_early:
            self._save(args, kwargs)
            self._has_saved_early = True
        if state[0] == TIME_IS_UP:
            self._group.barrier("the checkpoint before the exit is complete")
            get_log().warning("PreemptionCheckpointHandler: saved a checkpoint; this worker exits.")
            (self._config.exit_fn or exit_to_restart)()

    def _current_state(self) -> int:
        """Whether this worker was told to stop, and whether it has time left."""
        watcher = self._config.termination_watcher_fn
        if self._signalled_at is None and watcher is not None and watcher():
            self._note_signal(0, None)
        if self._signalled_at is None:
            return CONTINUE
        passed = time.monotonic() - self._signalled_at
        return TIME_IS_UP if passed >= (self._config.grace_period or 0) else SIGNALLED

    def _save(self, args: Any, kwargs: Any) -> None:
        """Save: the chief to its folder; the others read their variables and drop the files."""
        if self._config.save_fn is not None:
            self._config.save_fn(*args, **kwargs)
        elif self._group.rank == 0:
            self._manager.save()
        else:
            folder = tempfile.mkdtemp()
            try:
                CheckpointManager(self._manager.checkpoint, folder, max_to_keep=1).save()
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def exit_to_restart() -> None:
    """Exit with the status that asks for a restart."""
    sys.exit(RESTART_STATUS)
