"""Module: an object whose attributes are searched for variables and other modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ClassVar

from gradtape.core import nest
from gradtape.core.argument import describe
from gradtape.core.errors import public
from gradtape.core.name_scope import current_scope, name_scope
from gradtape.state.checkpoint.trackable import (
    PENDING_ATTRIBUTE,
    Trackable,
    bind_pending_child,
    functions_of,
)
from gradtape.state.variable.variable import Variable

WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")


def is_variable(value: Any) -> bool:
    """Whether a leaf is a variable or a Keras variable."""
    return isinstance(value, Variable) or hasattr(value, "_should_act_as_resource_variable")


def is_trainable_variable(value: Any) -> bool:
    """Whether a leaf is a trainable variable."""
    return is_variable(value) and bool(getattr(value, "trainable", False))


def is_frozen_variable(value: Any) -> bool:
    """Whether a leaf is a variable that is not trainable."""
    return is_variable(value) and not getattr(value, "trainable", False)


class Module(Trackable):
    """Base class of objects that own variables.

    A module finds variables and submodules in its attributes, including those in lists, tuples
    and dicts, in the order of the attribute names.

    Args:
        name: a Python identifier; by default the class's name in snake case.

    Raises:
        ValueError: if `name` is not an identifier.

    Example:
        >>> class Line(tf.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.slope = tf.Variable(2.0, name="slope")
        >>> [v.name for v in Line().trainable_variables]
        ['slope:0']
    """

    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = snake_case(type(self).__name__)
        elif not isinstance(name, str):
            raise TypeError(f"tf.Module: the name must be a string. Received {describe(name)}.")
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python "
                "identifiers (e.g. a valid class name)."
            )
        self._name = name
        self._name_scope = name_scope(f"{current_scope()}{name}/")

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if PENDING_ATTRIBUTE in vars(self):
            bind_pending_child(self, name, value)

    def _no_dependency(self, value: Any) -> Any:
        """The value itself: attributes are stored as they are."""
        return value

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        children = {name: value for name, value in vars(self).items() if name != PENDING_ATTRIBUTE}
        return children if save_type == "checkpoint" else children | functions_of(self)

    @property
    def name(self) -> str:
        """The name given, or the class name in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """A context manager that adds the module's name as a prefix to variable names."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables of this module and its submodules."""
        return tuple(self._flatten(predicate=is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable variables."""
        return tuple(self._flatten(predicate=is_trainable_variable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are not trainable."""
        return tuple(self._flatten(predicate=is_frozen_variable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules below this one, each once, without this one."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
    ) -> Iterator[Any]:
        """Yield the leaves that satisfy `predicate`: this module's first, then its submodules'."""
        seen = {id(self)}
        queue: list[tuple[tuple[Any, ...], Module]] = [((), self)]
        while queue:
            prefix, module = queue.pop(0)
            below = []
            for path, leaf in iterate_leaves(module, attribute_traversal_key):
                if id(leaf) in seen:
                    continue
                wanted = predicate is None or predicate(leaf)
                if wanted or isinstance(leaf, Module):
                    seen.add(id(leaf))
                if wanted:
                    yield (prefix + path, leaf) if with_path else leaf
                if recursive and isinstance(leaf, Module):
                    below.append((prefix + path, leaf))
            queue[:0] = below

    @classmethod
    @public
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a method to run it in the module's name scope.

        Args:
            method: a method of a `Module`.

        Returns:
            The method, which enters `self.name_scope` when it is called.
        """

        @wraps(method)
        def call(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return call


def snake_case(name: str) -> str:
    """`MyDense2D` as `my_dense2_d`, as in TensorFlow."""
    return WORD_STARTS.sub("_", name).lower()


def iterate_leaves(
    module: Module, key: Callable[[str], Any] | None
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield (path, leaf) for a module's attributes, in the order of their names."""
    attributes = vars(module)
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES or name == PENDING_ATTRIBUTE:
            continue
        try:
            pairs = list(nest.flatten_with_tuple_paths(attributes[name]))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"tf.Module: cannot look for variables in attribute {name!r} of {module!r}."
            ) from error
        for path, leaf in pairs:
            yield (name, *path), leaf
