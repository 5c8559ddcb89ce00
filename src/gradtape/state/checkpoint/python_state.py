"""PythonState: state that is no tensor, saved in checkpoints as a string."""

from __future__ import annotations

from typing import Any

from gradtape.core.convert import convert
from gradtape.state.checkpoint.trackable import Trackable


class PythonState(Trackable):
    """Base of objects that a checkpoint saves as a string; overwrite both methods.

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
        raise NotImplementedError(f"{type(self).__name__}.serialize is not there.")

    def deserialize(self, string_value: bytes) -> None:
        """Take over a state that `serialize` gave."""
        raise NotImplementedError(f"{type(self).__name__}.deserialize is not there.")

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"py_state": convert(self.serialize())}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.deserialize(restored_tensors["py_state"].numpy())
