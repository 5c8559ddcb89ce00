"""Checkpoint: save and restore the values of objects in TensorFlow's file format."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gradtape.core.errors import NotFoundError, public
from gradtape.files import tensor_bundle
from gradtape.files.access import as_path, translate_os_errors
from gradtape.state.checkpoint.checkpoint_state import update_checkpoint_state
from gradtape.state.checkpoint.object_graph import collect_tensors
from gradtape.state.checkpoint.restoration import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    Restoration,
)
from gradtape.state.checkpoint.trackable import (
    AutoTrackable,
    Trackable,
    bind_pending_child,
    is_checkpoint_node,
)
from gradtape.state.variable.variable import Variable

COUNTER_NAME = "save_counter"


class CheckpointOptions:
    """Options of saving and restoring; most are stored only, since saving is synchronous.

    Args:
        experimental_io_device: ignored.
        experimental_enable_async_checkpoint: ignored.
        experimental_write_callbacks: functions called after a checkpoint is written, with its
            path or without arguments.
        enable_async: ignored.
        experimental_skip_slot_variables: ignored.
        experimental_sharding_callback: ignored.
    """

    @public
    def __init__(
        self,
        experimental_io_device: Any = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Any = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback


class Checkpoint(AutoTrackable):
    """A group of objects whose variables are saved and restored together.

    Values are matched by their paths from the checkpoint: attribute names, dict keys, and positions
    in lists and tuples. A variable that is created after `restore`, such as in the first call of a
    layer, gets its value when it is assigned to an attribute.

    Args:
        root: an object to save in place of the checkpoint object itself.
        **kwargs: objects to save, by name: variables, modules, Keras's models and optimizers,
            iterators, and lists, dicts and tuples of them.

    Raises:
        ValueError: if an object cannot be saved.

    Example:
        >>> import tempfile
        >>> v = tf.Variable(3.0)
        >>> checkpoint = tf.train.Checkpoint(v=v)
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/model")
        >>> _ = v.assign(0.0)
        >>> _ = checkpoint.restore(path).assert_consumed()
        >>> v
        <tf.Variable 'Variable:0' shape=() dtype=float32, numpy=3.0>
    """

    @public
    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._save_counter: Any = None
        self._attached: Any = None
        if root is not None:
            require_trackable(root, "root", isinstance(root, Trackable))
            kwargs["root"] = root
        own = {} if root is None else root._trackable_children()
        attached = {}
        for name, value in sorted(kwargs.items()):
            require_trackable(value, name, is_checkpoint_node(value))
            setattr(self, name, value)
            if name in own and own[name] is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists."
                )
            if name not in own:
                attached[name] = getattr(self, name)
        if root is not None:
            object.__setattr__(self, "_attached", attached)
            if COUNTER_NAME in own:
                object.__setattr__(self, "_save_counter", own[COUNTER_NAME])

    @property
    def save_counter(self) -> Any:
        """Variable that counts the calls of `save`; it is saved too."""
        if self._save_counter is None:
            counter = Variable(np.int64(0), trainable=False, name=COUNTER_NAME)
            object.__setattr__(self, "_save_counter", counter)
            if self._attached is None:
                self._track_trackable(counter, COUNTER_NAME)
            else:
                self._attached[COUNTER_NAME] = counter
                bind_pending_child(self._root_and_extras()[0], COUNTER_NAME, counter)
        return self._save_counter

    def _root_and_extras(self) -> tuple[Any, dict[str, Any]]:
        """The root object to save, and its additional children."""
        return (self, {}) if self._attached is None else (vars(self)["root"], self._attached)

    @public
    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write the values to files whose names begin with `file_prefix`.

        The write is atomic, even if the process is killed. An earlier checkpoint with this prefix
        stays valid until the new one is complete.

        Args:
            file_prefix: a path; missing directories are created.
            options: a CheckpointOptions.

        Returns:
            The path for `read` or `restore`.
        """
        path = as_path(file_prefix)
        tensors = collect_tensors(*self._root_and_extras())
        with translate_os_errors(path):
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        tensor_bundle.write_bundle(path, tensors)
        for callback in (options and options.experimental_write_callbacks) or ():
            takes_path = getattr(callback, "__code__", None) and callback.__code__.co_argcount
            callback(path) if takes_path else callback()
        return path

    @public
    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write the values to files numbered by `save_counter`, and record them as the latest.

        Args:
            file_prefix: a path; a dash and the number are appended.
            options: a CheckpointOptions.

        Returns:
            The path with its number, for `restore`.
        """
        path = self._write_with_number(as_path(file_prefix), None, options)
        update_checkpoint_state(os.path.dirname(path), path, [path])
        return path

    def _write_with_number(
        self, prefix: str, number: int | None, options: CheckpointOptions | None
    ) -> str:
        """Increment the counter and write; a failed write restores the counter."""
        counter = self.save_counter
        counter.assign_add(1, read_value=False)
        try:
            return self.write(f"{prefix}-{int(counter) if number is None else number}", options)
        except BaseException:
            counter.assign_sub(1, read_value=False)
            raise

    @public
    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> Any:
        """Restore the values that `write` wrote; objects created later are restored then.

        Args:
            save_path: a path that `write` or `save` returned.
            options: a CheckpointOptions.

        Returns:
            A status, whose methods such as `assert_consumed` check the match.

        Raises:
            NotFoundError: if there is no such checkpoint.
            DataLossError: if its files are truncated or corrupt.
            ValueError: if a shape does not match; no value has changed then.
        """
        path = as_path(save_path)
        inner = os.path.join(path, "variables", "variables")  # of a SavedModel
        if os.path.isdir(path) and tensor_bundle.bundle_exists(inner):
            path = inner
        return CheckpointLoadStatus(
            Restoration(tensor_bundle.BundleReader(path), *self._root_and_extras())
        )

    @public
    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> Any:
        """Restore the values that `save` wrote, including the save counter.

        Args:
            save_path: a path that `save` returned, or `tf.train.latest_checkpoint`; None restores
                nothing.
            options: a CheckpointOptions.

        Returns:
            A status, as `read` does.
        """
        if save_path is None:
            _ = self.save_counter
            return InitializationOnlyStatus()
        try:
            status = self.read(save_path, options)
        except NotFoundError as error:
            raise NotFoundError(
                f"Error when restoring from checkpoint or SavedModel at {as_path(save_path)}: "
                f"{error} Check the path; the number at its end (as -1 in path/to/ckpt-1) may be "
                "missing."
            ) from None
        _ = self.save_counter  # created now, so that its value is restored
        return status

    def sync(self) -> None:
        """Do nothing: writing is synchronous."""


def require_trackable(value: Any, name: str, is_one: bool) -> None:
    """Raise ValueError unless `is_one`: whether `value` can be saved."""
    if not is_one:
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
            f"`Trackable`), got {value!r:.200}. Pass a variable, module, model or optimizer, or a "
            "list, tuple or dict of them."
        )
