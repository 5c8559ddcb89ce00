"""PythonState: Python objects that a checkpoint saves as strings."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.state.checkpoint.trackable import Trackable


class PythonState(Trackable):
    """Base class of objects that a checkpoint saves as a string; override both methods.

    Example:
        >>> class Count(tf.train.experimental.PythonState):
        ...     value = 0
        ...     def serialize(self):
        ...         return str(self.value)
        ...     def deserialize(self, string_value):
        ...         self.value = int(string_value)
        >>> checkpoint = tf.train.Checkpoint(count=Count())
    """

    def serialize(self) -> str | bytes:
        """The state as a string."""
        raise NotImplementedError(f"{type(self).__name__} must implement `serialize`.")

    @public
    def deserialize(self, string_value: bytes) -> None:
        """Load a state that `serialize` returned.

        Args:
            string_value: the bytes to load.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement `deserialize`.")

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"py_state": convert(self.serialize())}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.deserialize(restored_tensors["py_state"].numpy())
