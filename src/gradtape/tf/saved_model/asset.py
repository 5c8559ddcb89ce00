"""Files that belong to a model."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.files.access import as_path
from gradtape.state.checkpoint.trackable import Trackable


class Asset(Trackable):
    """A file that is saved along with a model.

    Args:
        path: the path of the file.

    Attributes:
        asset_path: the path as a tensor; after loading, that of the file in the model's directory.
    """

    @public
    def __init__(self, path: Any) -> None:
        self._path = convert(as_path(path))

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        """The path as a tensor of strings without axes."""
        return self._path

    @property
    def path(self) -> str:
        """The path."""
        return bytes(
            self._path._array[()] if self._path._array.shape else self._path.numpy()
        ).decode()

    @property
    def asset_path(self) -> Tensor:
        """The path as a tensor of strings without axes."""
        return self._path
