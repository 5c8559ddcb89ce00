"""The file `checkpoint` beside checkpoints, which names the latest and those before it."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

from gradtape.core.errors import public
from gradtape.files import tensor_bundle
from gradtape.files.access import as_path, replacing
from gradtape.files.protobuf import classes, protobuf

log = logging.getLogger("gradtape")

(CheckpointState,) = classes(
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
    """Write the file; paths below `directory` become relative to it."""
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
    with replacing(os.path.join(directory, "checkpoint")) as file:
        file.write(text_format.MessageToString(state).encode())


@public
def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """What the file `checkpoint` in a directory says.

    Args:
        checkpoint_dir: the directory.
        latest_filename: another name of the file.

    Returns:
        A CheckpointState, with paths that include the directory; None if there is no such file
        or it cannot be read.
    """
    protobuf()
    from google.protobuf import text_format

    directory = as_path(checkpoint_dir)
    name = os.path.join(directory, latest_filename or "checkpoint")
    try:
        with open(name, encoding="utf-8") as file:
            state = text_format.Parse(file.read(), CheckpointState())
    except (OSError, UnicodeDecodeError, text_format.ParseError) as error:
        if not isinstance(error, FileNotFoundError):
            log.warning("%s: %s: checkpoint ignored", name, error)
        return None
    if not state.model_checkpoint_path:
        log.warning("%s: it names no checkpoint: ignored", name)
        return None
    state.model_checkpoint_path = os.path.join(directory, state.model_checkpoint_path)
    for i, path in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = os.path.join(directory, path)
    return state


@public
def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the latest checkpoint that was saved in a directory, or None.

    Args:
        checkpoint_dir: the directory.
        latest_filename: another name of the file that says which is the latest.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path: str = state.model_checkpoint_path
    if not tensor_bundle.exists(path):
        log.error("Couldn't match files for checkpoint %s", path)
        return None
    return path


class CheckpointReader:
    """The tensors in a checkpoint, by name."""

    def __init__(self, reader: tensor_bundle.Reader) -> None:
        """Show what `reader` reads."""
        self._reader = reader

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of this name."""
        return tensor_str in self._reader

    @public
    def get_tensor(self, tensor_str: str) -> Any:
        """A tensor as a NumPy array; one without axes as a scalar, a string as bytes."""
        return self._reader.read(tensor_str)[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Shapes by name."""
        return {key: list(self._reader.shape(key)) for key in self._reader.entries}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """DTypes by name."""
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
        ckpt_dir_or_file: the path of a checkpoint, or a directory whose latest is meant.

    Raises:
        ValueError: if the directory has none.
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
    return CheckpointReader(tensor_bundle.Reader(path))


@public
def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """Names and shapes of the tensors in a checkpoint, sorted.

    Args:
        ckpt_dir_or_file: the path of a checkpoint, or a directory whose latest is meant.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


@public
def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """A tensor in a checkpoint as a NumPy array.

    Args:
        ckpt_dir_or_file: the path of a checkpoint, or a directory whose latest is meant.
        name: a name that `list_variables` shows.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
