"""The state file `checkpoint`, which lists the checkpoints of a directory, and readers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gradtape.core.errors import public
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.log import get_log
from gradtape.files import tensor_bundle
from gradtape.files.access import as_path, open_replacement
from gradtape.files.protobuf import import_protobuf, make_message_classes

(CheckpointState,) = make_message_classes(
    "gradtape/checkpoint_state.proto",
    {
        "CheckpointState": (
            "model_checkpoint_path:1:string all_model_checkpoint_paths:2:string* "
            "all_model_checkpoint_timestamps:3:double* last_preserved_timestamp:4:double"
        )
    },
    __name__,
)


def update_checkpoint_state(
    directory: str,
    latest: str,
    paths: Sequence[str],
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
) -> None:
    """Write the state file; paths are stored relative to `directory`."""
    from google.protobuf import text_format

    def relative(path: str) -> str:
        return os.path.relpath(path, directory or ".")

    state = CheckpointState(
        model_checkpoint_path=relative(latest),
        all_model_checkpoint_paths=[relative(path) for path in paths],
        all_model_checkpoint_timestamps=timestamps,
    )
    if last_preserved is not None:
        state.last_preserved_timestamp = last_preserved
    with open_replacement(os.path.join(directory, "checkpoint")) as file:
        file.write(text_format.MessageToString(state).encode())


@public
def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """Read the state file of a directory.

    Args:
        checkpoint_dir: the directory.
        latest_filename: name of the state file, "checkpoint" by default.

    Returns:
        A CheckpointState, with paths that include the directory; None if the file is missing or
        cannot be read.
    """
    import_protobuf()
    from google.protobuf import text_format

    directory = as_path(checkpoint_dir)
    name = os.path.join(directory, latest_filename or "checkpoint")
    try:
        with open(name, encoding="utf-8") as file:
            state = text_format.Parse(file.read(), CheckpointState())
    except (OSError, UnicodeDecodeError, text_format.ParseError) as error:
        if is_from_signal_handler(error):
            raise
        if not isinstance(error, FileNotFoundError):
            get_log().warning("%s: %s: state file ignored", name, error)
        return None
    if not state.model_checkpoint_path:
        get_log().warning("%s: names no checkpoint: state file ignored", name)
        return None
    state.model_checkpoint_path = os.path.join(directory, state.model_checkpoint_path)
    for i, path in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = os.path.join(directory, path)
    return state


@public
def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Path of the latest checkpoint of a directory, or None.

    Args:
        checkpoint_dir: the directory.
        latest_filename: name of the state file, "checkpoint" by default.

    Returns:
        The prefix of the checkpoint's files, or None.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> path = tf.train.Checkpoint(w=tf.Variable(1.0)).save(folder + "/model")
        >>> tf.train.latest_checkpoint(folder) == path
        True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path: str = state.model_checkpoint_path
    if not tensor_bundle.bundle_exists(path):
        get_log().error("Couldn't match files for checkpoint %s", path)
        return None
    return path


class CheckpointReader:
    """The tensors in a checkpoint, by name."""

    def __init__(self, reader: tensor_bundle.BundleReader) -> None:
        """Wrap `reader`."""
        self._reader = reader

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of this name."""
        return tensor_str in self._reader

    @public
    def get_tensor(self, tensor_str: str) -> Any:
        """A tensor as a NumPy array; a scalar as a NumPy scalar, a string as bytes."""
        return self._reader.read(tensor_str)[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each tensor."""
        return {key: list(self._reader.shape(key)) for key in self._reader.entries}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The DType of each tensor."""
        return {key: self._reader.dtype(key) for key in self._reader.entries}

    def debug_string(self) -> bytes:
        """Names, dtypes and shapes, as text."""
        shapes, dtypes = self.get_variable_to_shape_map(), self.get_variable_to_dtype_map()
        lines = (f"{key} ({dtypes[key].name}) {shape}\n" for key, shape in sorted(shapes.items()))
        return "".join(lines).encode()


@public
def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of the tensors in a checkpoint.

    Args:
        ckpt_dir_or_file: path of a checkpoint, or a directory, for its latest checkpoint.

    Returns:
        A CheckpointReader.

    Raises:
        ValueError: if the directory has no checkpoint.
        NotFoundError: if there is no such checkpoint.
    """
    path = as_path(ckpt_dir_or_file)
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = latest
    return CheckpointReader(tensor_bundle.BundleReader(path))


@public
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Names and shapes of the tensors in a checkpoint, sorted.

    Args:
        ckpt_dir_or_file: path of a checkpoint, or a directory, for its latest checkpoint.

    Returns:
        A list of pairs of a name and a list of sizes.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


@public
def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """A tensor in a checkpoint as a NumPy array.

    Args:
        ckpt_dir_or_file: path of a checkpoint, or a directory, for its latest checkpoint.
        name: a name that `list_variables` shows.

    Returns:
        A NumPy array.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
