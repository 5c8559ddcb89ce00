"""Keras's BackupAndRestore with several workers: the chief writes, all of them restore."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from gradtape.core.worker_group import current_worker_group

PATHS = {"_weights_path": "latest.weights.h5", "_training_metadata_path": "training_metadata.json"}


def connect_backup() -> None:
    """Let the callback write whole files, and only once if there are several workers."""
    module = importlib.import_module("keras.src.callbacks.backup_and_restore")
    callback: Any = module.BackupAndRestore
    save, end = callback._save_model, callback.on_train_end
    if hasattr(save, "__wrapped__"):
        return

    @functools.wraps(save)
    def save_model(self: Any) -> None:
        """All workers read their variables, perhaps by collectives; the chief keeps the files."""
        with use_temporary_paths(self) as (folder, targets):
            save(self)
            if current_worker_group().rank == 0:
                os.makedirs(targets["backup_dir"], exist_ok=True)
                for attribute, name in PATHS.items():
                    keep_file(os.path.join(folder, name), targets[attribute], self)

    @functools.wraps(end)
    def on_train_end(self: Any, logs: Any = None) -> None:
        """The chief deletes the files when all workers have ended."""
        group = current_worker_group()
        group.barrier("BackupAndRestore: the training has ended")
        if group.rank == 0:
            end(self, logs)
        group.barrier("BackupAndRestore: the files are deleted")

    callback._save_model, callback.on_train_end = save_model, on_train_end


@contextlib.contextmanager
def use_temporary_paths(callback: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Scope in which the callback writes to a temporary folder; yields it and the real paths."""
    targets = {attribute: getattr(callback, attribute) for attribute in ("backup_dir", *PATHS)}
    folder = callback.backup_dir = tempfile.mkdtemp()
    for attribute, name in PATHS.items():
        setattr(callback, attribute, os.path.join(folder, name))
    try:
        yield folder, targets
    finally:
        for attribute, target in targets.items():
            setattr(callback, attribute, target)
        shutil.rmtree(folder, ignore_errors=True)


def keep_file(source: str, target: str, callback: Any) -> None:
    """Move a file to its place in one step, so that a crash leaves the old or the new one."""
    if callback.double_checkpoint and os.path.exists(target):
        shutil.copyfile(target, f"{target}.bkp")
    partial = f"{target}.partial"
    shutil.copyfile(source, partial)
    os.replace(partial, target)
