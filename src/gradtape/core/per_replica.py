"""PerReplica and its relatives: one value for each replica, and structures of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradtape.core import nest
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.spec import TypeSpec, type_spec_of


class DistributedValues:
    """Base class of values that each replica has its own of.

    Attributes:
        values: the values of the replicas of this process, in the order of the replicas.
    """

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        raise NotImplementedError


class ReplicaValues(DistributedValues):
    """A tuple of values, one for each replica of this process."""

    def __init__(self, values: Sequence[Any]) -> None:
        """Hold one value for each replica."""
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        return self._values

    def _repr_of(self, describe: Callable[[Any], str]) -> str:
        lines = [f"  {i}: {describe(value)}" for i, value in enumerate(self._values)]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"

    def __repr__(self) -> str:
        """The values, one on each line."""
        return self._repr_of(repr)

    def __str__(self) -> str:
        """The values, one on each line."""
        return self._repr_of(str)


class PerReplica(ReplicaValues):
    """A value that differs between replicas, such as a result of `Strategy.run`."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*map(type_spec_of, self._values))

    def __iter__(self) -> Any:
        """Refuse: the replicas' values are in `values`.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "PerReplica: a value of several replicas cannot be iterated over. Use "
            "strategy.experimental_local_results(value)."
        )


class Mirrored(ReplicaValues):
    """A value that is equal on all replicas, such as the result of a reduction."""

    def __getattr__(self, name: str) -> Any:
        """The attribute of the first replica's value."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._values[0], name)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The value of the first replica."""
        value = self._values[0]
        return value.__tf_tensor__(dtype, name) if hasattr(value, "__tf_tensor__") else value


class PerReplicaSpec(TypeSpec):
    """The specs of the values of a PerReplica."""

    __slots__ = ("_value_specs",)

    def __init__(self, *value_specs: Any) -> None:
        self._value_specs = value_specs

    @property
    def value_type(self) -> Any:
        """The class PerReplica."""
        return PerReplica

    @property
    def _component_specs(self) -> Any:
        return self._value_specs

    def _to_components(self, value: Any) -> Any:
        return value.values

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))})"


CompositeTensor.register(PerReplica)


def select_replica(replica: int, structure: Any) -> Any:
    """A structure with the value of one replica in place of each DistributedValues.

    Variables stay as they are: inside a replica they stand for the replica's own copy.
    """

    def select(leaf: Any) -> Any:
        return leaf.values[replica] if isinstance(leaf, ReplicaValues) else leaf

    return nest.map_structure(select, structure)


def merge_replicas(values: Sequence[Any], wrap: Callable[[Sequence[Any]], Any] = PerReplica) -> Any:
    """One structure from those of all replicas; leaves that differ become PerReplica.

    An object that all replicas return stays as it is.

    Raises:
        AssertionError: if the structures differ, as in TensorFlow.
    """
    first = values[0]
    if not nest.is_nested(first):
        return merge_leaves(values, wrap)
    parts = [nest.children_of(value) for value in values]
    for other, children in zip(values[1:], parts[1:], strict=True):
        is_same = type(other) is type(first) and len(children) == len(parts[0])
        if not is_same or (isinstance(first, Mapping) and other.keys() != first.keys()):
            raise AssertionError(
                "Strategy.run: all replicas must return the same structure. Received "
                f"{first!r:.100} and {other!r:.100}."
            )
    return nest.rebuild(first, [merge_replicas(each, wrap) for each in zip(*parts, strict=True)])


def merge_leaves(values: Sequence[Any], wrap: Callable[[Sequence[Any]], Any]) -> Any:
    """The value that all replicas share, or all values together."""
    first = values[0]
    if all(value is first for value in values):
        return first
    container = getattr(first, "_distributed_container", None)
    if container is not None and all(
        getattr(value, "_distributed_container", lambda: None)() is container() for value in values
    ):
        return container()
    return wrap(values)
