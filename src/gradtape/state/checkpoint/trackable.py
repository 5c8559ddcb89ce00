"""Trackable objects: objects with named children, and lists, dicts and tuples of them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, Protocol, SupportsIndex

from gradtape.core.interruption import is_from_signal_handler

PENDING_ATTRIBUTE = "_self_pending"  # attribute: restored values for children that do not exist yet
CHILDREN_ATTRIBUTE = "_self_tracked"  # attribute: children by name
TRACKING_ATTRIBUTE = (
    "_self_setattr_tracking"  # attribute: whether assigned attributes become children
)


class RestorationProtocol(Protocol):
    """The interface of a restoration for objects with pending children."""

    def bind(self, node: int, value: Any, owner: Any, name: str) -> None:
        """Restore `value`, now the child `name` of `owner`, from `node`."""


class Trackable:
    """Base class of objects that a checkpoint can save."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children by name."""
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The tensors to save, by name."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Load tensors that `_serialize_to_tensors` returned."""
        raise NotImplementedError


class TrackableResource(Trackable):
    """Base class of trackable resources, such as tables."""


class AutoTrackable(Trackable):
    """An object whose attributes become its children when they are assigned.

    Lists and dicts are replaced by wrappers that track new items, so that values restored earlier
    reach variables created later.
    """

    # Also on the class: code that compares an object's attributes with its class's skips them.
    _self_pending: Any = None
    _self_tracked: Any = None
    _self_setattr_tracking = True

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get(name, vars) is value:
            return
        if getattr(self, TRACKING_ATTRIBUTE, True):
            value = self._track_trackable(wrap_collections(value), name, overwrite=True)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        vars(self).get(CHILDREN_ATTRIBUTE, {}).pop(name, None)
        super().__delattr__(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Make `trackable` a child if a checkpoint can save it."""
        if is_checkpoint_node(trackable):
            vars(self).setdefault(CHILDREN_ATTRIBUTE, {})[name] = trackable
            bind_pending_child(self, name, trackable)
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        children = dict(vars(self).get(CHILDREN_ATTRIBUTE, {}))
        return children if save_type == "checkpoint" else children | functions_of(self)


DEFAULT_SIGNATURE_ATTRIBUTE = (
    "_default_save_signature"  # attribute: the function that serving uses by default
)


def functions_of(value: Any) -> dict[str, Any]:
    """The attributes and methods of an object that are `tf.function`s, by name."""
    found = {}
    for name in dir(value):
        static = inspect.getattr_static(value, name, None)
        if name == DEFAULT_SIGNATURE_ATTRIBUTE or is_saved_function(static):
            try:
                attribute = getattr(value, name)
            except Exception as error:
                if is_from_signal_handler(error):
                    raise
                continue
            if is_saved_function(attribute):
                found[name] = attribute
    return found


def is_saved_function(value: Any) -> bool:
    """Whether `value` can be saved as a function of a SavedModel."""
    return getattr(type(value), "_saves_as_function", False) is True


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method: the attributes that it assigns do not become children."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, TRACKING_ATTRIBUTE, True)
        object.__setattr__(self, TRACKING_ATTRIBUTE, False)
        try:
            return method(self, *args, **kwargs)
        finally:
            object.__setattr__(self, TRACKING_ATTRIBUTE, before)

    return call


class ListWrapper(list[Any]):
    """A list that restores pending values into new items."""

    def _bind_pending_items(self) -> None:
        if PENDING_ATTRIBUTE in vars(self):
            for i, value in enumerate(list(self)):
                bind_pending_child(self, str(i), value)

    def append(self, value: Any) -> None:
        """Like the method of `list`."""
        super().append(wrap_collections(value))
        self._bind_pending_items()

    def extend(self, values: Iterable[Any]) -> None:
        """Like the method of `list`."""
        super().extend(wrap_collections(value) for value in values)
        self._bind_pending_items()

    def __iadd__(self, values: Iterable[Any]) -> ListWrapper:  # type: ignore[misc]
        self.extend(values)
        return self

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Like the method of `list`."""
        super().insert(index, wrap_collections(value))
        self._bind_pending_items()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value if isinstance(index, slice) else wrap_collections(value))
        self._bind_pending_items()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"


class _DictWrapper(dict[Any, Any]):
    """A dict that restores pending values into new items."""

    def __setitem__(self, key: Any, value: Any) -> None:
        value = wrap_collections(value)
        super().__setitem__(key, value)
        if isinstance(key, str):
            bind_pending_child(self, key, value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Like the method of `dict`."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Like the method of `dict`."""
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


def wrap_collections(value: Any) -> Any:
    """Wrap lists and dicts in `ListWrapper` and `_DictWrapper`; return anything else unchanged."""
    kind = type(value)
    if kind is list:
        return ListWrapper(wrap_collections(item) for item in value)
    if kind is dict or kind is OrderedDict:
        return _DictWrapper({key: wrap_collections(item) for key, item in value.items()})
    return value


def is_checkpoint_node(value: Any) -> bool:
    """Whether `value` is a node of the object graph of a checkpoint."""
    kind = type(value)
    if isinstance(value, Trackable) or kind in (list, dict, OrderedDict, ListWrapper, _DictWrapper):
        return True
    return isinstance(value, tuple) and any(is_checkpoint_node(item) for item in value)


def children_of(value: Any, save_type: str = "checkpoint") -> dict[str, Any]:
    """The children, by name, of an object, list, dict or tuple that a checkpoint saves.

    With the `save_type` "savedmodel" they include functions.
    """
    if isinstance(value, Trackable):
        named: Iterable[tuple[str, Any]] = value._trackable_children(save_type=save_type).items()
    elif is_saved_function(value):
        return {}
    elif isinstance(value, dict):
        named = iterate_string_items(value)
    else:
        fields = getattr(value, "_fields", ())  # items of a namedtuple have a name and a number
        numbered = [(str(i), item) for i, item in enumerate(value)]
        named = [*zip(fields, value, strict=False), *numbered]
    functions = save_type != "checkpoint"
    return {
        n: child
        for n, child in named
        if is_checkpoint_node(child) or (functions and is_saved_function(child))
    }


def iterate_string_items(value: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the items of a dict with string keys.

    Raises:
        ValueError: if a trackable item has another key.
    """
    for key, item in value.items():
        if isinstance(key, str):
            yield key, item
        elif is_checkpoint_node(item):
            raise ValueError(
                "Checkpoint: keys of saved dictionaries must be strings. Received the non-string "
                f"key {key!r} of a trackable value in {value!r:.200}. Use strings for keys."
            )


def has_values(value: Any) -> bool:
    """Whether an object itself has tensors to save."""
    own = getattr(type(value), "_serialize_to_tensors", None)
    return own is not None and own is not Trackable._serialize_to_tensors


def add_pending_child(owner: Any, name: str, checkpoint: RestorationProtocol, node: int) -> None:
    """Restore the child `name` of `owner` from `node` as soon as it exists."""
    waiting = vars(owner).get(PENDING_ATTRIBUTE)
    if waiting is None:
        waiting = {}
        object.__setattr__(owner, PENDING_ATTRIBUTE, waiting)
    waiting.setdefault(name, []).append((checkpoint, node))


def bind_pending_child(owner: Any, name: str, value: Any) -> None:
    """Restore pending values into the new child `name` of `owner`."""
    waiting = vars(owner).get(PENDING_ATTRIBUTE)
    if waiting and name in waiting and is_checkpoint_node(value):
        bindings = waiting.pop(name)  # the latest checkpoint is last, so it wins

        def bind() -> None:
            for checkpoint, node in bindings:
                checkpoint.bind(node, value, owner, name)

        if getattr(value, "_value", value) is None and hasattr(value, "_initialize"):
            add_initialize_hook(value, bind)
        else:
            bind()


def add_initialize_hook(variable: Any, then: Callable[[], None]) -> None:
    """Call `then` when a Keras variable with deferred initialization gets its first value."""
    initialize = variable._initialize

    def initialize_and_notify(value: Any) -> None:
        del variable._initialize
        initialize(value)
        then()

    object.__setattr__(variable, "_initialize", initialize_and_notify)
