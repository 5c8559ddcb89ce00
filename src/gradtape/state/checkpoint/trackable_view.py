"""TrackableView: the objects below a root that a checkpoint saves."""

from __future__ import annotations

import weakref
from typing import Any

from gradtape.core.errors import public
from gradtape.state.checkpoint.trackable import (
    Trackable,
    children_of,
    is_checkpoint_node,
    is_saved_function,
)


class TrackableView:
    """A view of the objects below a root: its children, their children, and so on.

    Args:
        root: a trackable object, or a weak reference to one.

    Example:
        >>> module = tf.Module()
        >>> module.v = tf.Variable(1.0)
        >>> list(tf.train.TrackableView(module).children(module))
        ['v']
    """

    @public
    def __init__(self, root: Any) -> None:
        self._reference = root if isinstance(root, weakref.ref) else weakref.ref(root)

    @property
    def root(self) -> Trackable:
        """The root, which must still be alive."""
        root: Trackable | None = self._reference()
        assert root is not None, "the root of a TrackableView has been deleted"
        return root

    @classmethod
    @public
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children of an object by name.

        Args:
            obj: a trackable object.
            save_type: "checkpoint", or "savedmodel" to include functions.
            **kwargs: passed on to the object.

        Returns:
            A dict from names to objects.
        """
        if not isinstance(obj, Trackable):
            return children_of(obj, save_type)
        found = obj._trackable_children(save_type, **kwargs)
        functions = save_type != "checkpoint"
        return {
            n: c
            for n, c in found.items()
            if is_checkpoint_node(c) or (functions and is_saved_function(c))
        }

    def descendants(self) -> list[Any]:
        """The root and all objects below it, each once, in breadth-first order."""
        found: list[Any] = [self.root]
        seen = {id(found[0])}
        for value in found:  # grows during the loop
            for child in self.children(value).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    found.append(child)
        return found
