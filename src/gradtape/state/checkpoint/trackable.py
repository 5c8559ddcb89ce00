"""What a checkpoint can hold: objects with named children, and lists, dicts and tuples of them."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, Protocol, SupportsIndex

PENDING = "_self_pending"  # attribute: what a restored checkpoint has for children yet to come
TRACKED = "_self_tracked"  # attribute: children by name
TRACKING = "_self_setattr_tracking"  # attribute: whether assigned attributes become children


class Restoring(Protocol):
    """A checkpoint that is being restored, as seen by the objects that wait for it."""

    def bind(self, node: int, value: Any, owner: Any, name: str) -> None:
        """Give `value`, which is now the child `name` of `owner`, what `node` holds."""


class Trackable:
    """Base of what a checkpoint can hold."""

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children by name."""
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The tensors to save, by name."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        """Take over tensors that `_serialize_to_tensors` gave."""
        raise NotImplementedError


class TrackableResource(Trackable):
    """Base of what is more than its values: tables."""


class AutoTrackable(Trackable):
    """An object whose attributes are its children as soon as they are assigned.

    Lists and dicts are replaced by ones that notice what is added to them, so that values restored
    earlier find their variables.
    """

    # Of the class too, so that who compares an object's attributes with its class's passes over.
    _self_pending: Any = None
    _self_tracked: Any = None
    _self_setattr_tracking = True

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get(name, vars) is value:
            return
        if getattr(self, TRACKING, True):
            value = self._track_trackable(watched(value), name, overwrite=True)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        vars(self).get(TRACKED, {}).pop(name, None)
        super().__delattr__(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Make `trackable` a child, if it can be one."""
        if is_node(trackable):
            vars(self).setdefault(TRACKED, {})[name] = trackable
            arrived(self, name, trackable)
        return trackable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        children = dict(vars(self).get(TRACKED, {}))
        return children if save_type == "checkpoint" else children | functions_of(self)


SERVED = "_default_save_signature"  # attribute: the function that is served by default


def functions_of(value: Any) -> dict[str, Any]:
    """The attributes and methods of an object that are `tf.function`s, by name."""
    found = {}
    for name in dir(value):
        static = inspect.getattr_static(value, name, None)
        if name == SERVED or is_function(static):
            try:
                attribute = getattr(value, name)
            except Exception:
                continue
            if is_function(attribute):
                found[name] = attribute
    return found


def is_function(value: Any) -> bool:
    """Whether a model can be saved with `value` as one of its functions."""
    return getattr(type(value), "_saves_as_function", False) is True


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method so that attributes it assigns do not become children."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = getattr(self, TRACKING, True)
        object.__setattr__(self, TRACKING, False)
        try:
            return method(self, *args, **kwargs)
        finally:
            object.__setattr__(self, TRACKING, before)

    return call


class ListWrapper(list[Any]):
    """A list that notices what is added to it."""

    def _told(self) -> None:
        if PENDING in vars(self):
            for i, value in enumerate(list(self)):
                arrived(self, str(i), value)

    def append(self, value: Any) -> None:
        """As of a list."""
        super().append(watched(value))
        self._told()

    def extend(self, values: Iterable[Any]) -> None:
        """As of a list."""
        super().extend(watched(value) for value in values)
        self._told()

    def __iadd__(self, values: Iterable[Any]) -> ListWrapper:  # type: ignore[misc]
        self.extend(values)
        return self

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """As of a list."""
        super().insert(index, watched(value))
        self._told()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value if isinstance(index, slice) else watched(value))
        self._told()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"


class _DictWrapper(dict[Any, Any]):
    """A dict that notices what is added to it."""

    def __setitem__(self, key: Any, value: Any) -> None:
        value = watched(value)
        super().__setitem__(key, value)
        if isinstance(key, str):
            arrived(self, key, value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As of a dict."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """As of a dict."""
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


def watched(value: Any) -> Any:
    """A list or dict as one that notices what is added; anything else as it is."""
    kind = type(value)
    if kind is list:
        return ListWrapper(watched(item) for item in value)
    if kind is dict or kind is OrderedDict:
        return _DictWrapper({key: watched(item) for key, item in value.items()})
    return value


def is_node(value: Any) -> bool:
    """Whether a checkpoint has a place for `value`."""
    kind = type(value)
    if isinstance(value, Trackable) or kind in (list, dict, OrderedDict, ListWrapper, _DictWrapper):
        return True
    return isinstance(value, tuple) and any(is_node(item) for item in value)


def children_of(value: Any, save_type: str = "checkpoint") -> dict[str, Any]:
    """The children of an object, list, dict or tuple that a checkpoint has a place for.

    With the `save_type` "savedmodel", functions are among them.
    """
    if isinstance(value, Trackable):
        named: Iterable[tuple[str, Any]] = value._trackable_children(save_type=save_type).items()
    elif is_function(value):
        return {}
    elif isinstance(value, dict):
        named = items_of(value)
    else:
        fields = getattr(value, "_fields", ())  # a namedtuple's elements have two names
        numbered = [(str(i), item) for i, item in enumerate(value)]
        named = [*zip(fields, value, strict=False), *numbered]
    functions = save_type != "checkpoint"
    return {n: child for n, child in named if is_node(child) or (functions and is_function(child))}


def items_of(value: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The items of a dict; keys of children must be strings."""
    for key, item in value.items():
        if isinstance(key, str):
            yield key, item
        elif is_node(item):
            raise ValueError(
                f"Unable to save the object {value!r:.200}: a dictionary with the non-string key "
                f"{key!r}, which maps to something to be saved. Use strings for keys."
            )


def has_values(value: Any) -> bool:
    """Whether an object has tensors of its own to save."""
    own = getattr(type(value), "_serialize_to_tensors", None)
    return own is not None and own is not Trackable._serialize_to_tensors


def await_child(owner: Any, name: str, checkpoint: Restoring, node: int) -> None:
    """Have the child `name` of `owner`, when there is one, take over what `node` holds."""
    waiting = vars(owner).get(PENDING)
    if waiting is None:
        waiting = {}
        object.__setattr__(owner, PENDING, waiting)
    waiting.setdefault(name, []).append((checkpoint, node))


def arrived(owner: Any, name: str, value: Any) -> None:
    """Tell the checkpoints that wait for it that `owner` has a child `name` now."""
    waiting = vars(owner).get(PENDING)
    if waiting and name in waiting and is_node(value):
        bindings = waiting.pop(name)  # the latest comes last and has the last word

        def bind() -> None:
            for checkpoint, node in bindings:
                checkpoint.bind(node, value, owner, name)

        if getattr(value, "_value", value) is None and hasattr(value, "_initialize"):
            when_set(value, bind)
        else:
            bind()


def when_set(variable: Any, then: Callable[[], None]) -> None:
    """Call `then` when a variable that is declared before it has a value gets its first one."""
    initialize = variable._initialize

    def initialized(value: Any) -> None:
        del variable._initialize
        initialize(value)
        then()

    object.__setattr__(variable, "_initialize", initialized)
