"""Restoring objects from a checkpoint, at once or as soon as they exist."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

from gradtape.core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from gradtape.core.log import get_log
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import make_tensor
from gradtape.files.protobuf import parse_proto
from gradtape.files.tensor_bundle import BundleReader
from gradtape.state.checkpoint import object_graph
from gradtape.state.checkpoint.trackable import (
    ListWrapper,
    Trackable,
    _DictWrapper,
    add_pending_child,
    children_of,
    has_values,
)

LOG = get_log()  # now, because `__del__` may run while Python exits

next_restoration_number = itertools.count(1).__next__
MAX_LISTED = 10


class Restoration:
    """A checkpoint being restored: the matching of its nodes to objects."""

    def __init__(self, reader: BundleReader, root: Any, attached: dict[str, Any]) -> None:
        """Match the objects below `root`; `attached` are additional children of the root."""
        self.reader = reader
        self.graph = read_object_graph(reader)
        self.names = object_graph.NodeNames(self.graph)
        self.number = next_restoration_number()
        self.bound: dict[int, Any] = {}
        self.unused: dict[int, str] = {}
        self.attached = attached
        self.root = root
        self.expects_partial = False
        self._match([(0, root, None, "")])

    def bind(self, node: int, value: Any, owner: Any, name: str) -> None:
        """Restore `value`, now the child `name` of `owner`, from `node`."""
        self._match([(node, value, owner, name)])

    def _match(self, pairs: list[tuple[int, Any, Any, str]]) -> None:
        """Match nodes and objects and everything below them; then assign all values.

        If a value does not match its object, no value is assigned.
        """
        fresh: dict[int, Any] = {}
        values: list[tuple[Any, dict[str, Any]]] = []
        waiting: list[tuple[Any, str, int]] = []
        for node, value, owner, name in pairs:  # grows during the loop
            if self._is_bound(node, value, fresh):
                continue
            fresh[node] = value
            tensors = self._read_values(node, value)
            if tensors:
                values.append((value, tensors))
            self._collect_children(node, value, owner, name, pairs, waiting)
        for value, tensors in values:
            check_restored_tensors(value, tensors, self.reader)
        self.bound |= fresh
        for owner, name, node in waiting:
            add_pending_child(owner, name, self, node)
        for value, tensors in values:
            if getattr(value, "_update_uid", 0) <= self.number:
                value._restore_from_tensors({key: make_tensor(raw) for key, raw in tensors.items()})
        for value in fresh.values():
            if isinstance(value, Trackable):
                object.__setattr__(value, "_update_uid", self.number)

    def _is_bound(self, node: int, value: Any, fresh: dict[int, Any]) -> bool:
        """Whether a node is bound to an object; warns if that is not `value`."""
        before = self.bound.get(node, fresh.get(node))
        if before is not None and before is not value:
            get_log().warning(
                "Inconsistent references when loading the checkpoint into this object graph: %s "
                "is already %r, and would be %r.",
                *(self.names[node], before, value),
            )
        return before is not None

    def _read_values(self, node: int, value: Any) -> dict[str, Any]:
        """The raw values of an object, by the names of its attributes."""
        attributes = self.graph.nodes[node].attributes
        if len({attribute.name for attribute in attributes}) < len(attributes):
            raise DataLossError(
                f"{self.reader.prefix}: {self.names[node]} has two values of one name."
            )
        current = value._serialize_to_tensors() if attributes and has_values(value) else {}
        tensors = {}
        for attribute in attributes:
            if attribute.name not in current:
                self.unused[node] = attribute.name
                continue
            key = attribute.checkpoint_key
            if key not in self.reader and f"{key}_STATE" in self.reader:
                raise UnimplementedError(
                    f"restore: {self.names[node]} in {self.reader.prefix} is the state of a "
                    "TensorFlow iterator, which only TensorFlow can read. Leave it out of the "
                    "Checkpoint."
                )
            raw = self.reader.read(key)
            tensors[attribute.name] = raw[()] if raw.dtype != object else raw
        return tensors

    def _collect_children(
        self,
        node: int,
        value: Any,
        owner: Any,
        name: str,
        pairs: list[tuple[int, Any, Any, str]],
        waiting: list[tuple[Any, str, int]],
    ) -> None:
        """Add existing children of an object to `pairs`, and missing ones to `waiting`."""
        found = children_of(value)
        if value is self.root:
            found |= self.attached
        wanted = {child.local_name: child.node_id for child in self.graph.nodes[node].children}
        missing = {key: child for key, child in wanted.items() if key not in found}
        home = wrap_in_owner(value, owner, name) if missing else value
        pairs += [(child, found[key], home, key) for key, child in wanted.items() if key in found]
        if home is not None:
            waiting += [(home, key, child) for key, child in missing.items()]

    def __del__(self) -> None:
        """Warn about values that were not restored, as TensorFlow does."""
        if getattr(self, "expects_partial", True):
            return
        nodes = filter(self._is_unmatched_node, range(len(self.graph.nodes)))
        names = (name for name in map(self.names.__getitem__, nodes) if "save_counter" not in name)
        unused = list(itertools.islice(names, MAX_LISTED + 1))
        if unused and LOG is not None:
            LOG.warning(
                "restore: the checkpoint was restored in part. No object matched the values of %s. "
                "Call status.expect_partial() to silence this warning.",
                ", ".join(unused[:MAX_LISTED]) + (", …" if len(unused) > MAX_LISTED else ""),
            )

    def _is_unmatched_node(self, node: int) -> bool:
        return bool(self.graph.nodes[node].attributes) and node not in self.bound


def read_object_graph(reader: BundleReader) -> Any:
    """Read the object graph of a checkpoint."""
    if object_graph.OBJECT_GRAPH_KEY not in reader:
        raise UnimplementedError(
            f"restore: {reader.prefix} has no object graph, like checkpoints of TensorFlow 1. "
            "Read its tensors with tf.train.load_variable and assign them."
        )
    data = reader.read(object_graph.OBJECT_GRAPH_KEY)[()]
    graph = parse_proto(
        object_graph.ObjectGraphProto, data, f"{reader.prefix}: {object_graph.OBJECT_GRAPH_KEY}"
    )
    count = len(graph.nodes)
    if not count or any(
        not 0 <= child.node_id < count for node in graph.nodes for child in node.children
    ):
        raise DataLossError(
            f"{reader.prefix}: {object_graph.OBJECT_GRAPH_KEY} refers to missing objects."
        )
    return graph


def wrap_in_owner(value: Any, owner: Any, name: str) -> Any:
    """Replace a list or dict in `owner` by a wrapper that tracks new children.

    Returns:
        The wrapper, or `value` if it can track children itself; None if neither is possible.
    """
    if type(value) in (list, dict, OrderedDict):
        wrapper = ListWrapper(value) if isinstance(value, list) else _DictWrapper(value)
        if isinstance(owner, list):
            list.__setitem__(owner, int(name), wrapper)
        elif isinstance(owner, dict):
            dict.__setitem__(owner, name, wrapper)
        elif isinstance(owner, Trackable) and vars(owner).get(name) is value:
            object.__setattr__(owner, name, wrapper)
        else:
            return None
        return wrapper
    return value if hasattr(value, "__dict__") else None


def check_restored_tensors(value: Any, tensors: dict[str, Any], reader: BundleReader) -> None:
    """Raise if the dtype or shape of restored tensors does not match the object."""
    current = value._serialize_to_tensors()
    check = getattr(value, "_check_restored_tensors", None)
    for name, raw in tensors.items():
        here = current[name]
        dtype = getattr(here, "dtype", None)
        there = make_tensor(raw)
        if dtype is not None and dtype != there.dtype:
            raise InvalidArgumentError(
                f"restore: {getattr(value, 'name', value)!r}: expected dtype {dtype.name} does not "
                f"equal original dtype {there.dtype.name} in {reader.prefix}."
            )
        shape = getattr(value, "shape", None)
        if isinstance(shape, TensorShape) and not shape.is_compatible_with(raw.shape):
            raise ValueError(
                f"Received incompatible tensor with shape {raw.shape} when attempting to restore "
                f"variable with shape {shape} and name {getattr(value, 'name', value)}."
            )
    if check is not None:
        check(tensors)


class CheckpointLoadStatus:
    """The result of `restore`: checks how well the checkpoint matches the objects."""

    def __init__(self, restoration: Restoration) -> None:
        """Report on `restoration`."""
        self._restoration = restoration

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless all objects and all values in the checkpoint are matched."""
        self.assert_existing_objects_matched()
        restored = self._restoration
        for number, node in enumerate(restored.graph.nodes):
            if restored._is_unmatched_node(number):
                raise AssertionError(
                    f"Unresolved object in checkpoint {restored.names[number]}: {node}"
                )
        if restored.unused:
            some = itertools.islice(restored.unused.items(), MAX_LISTED)
            names = ", ".join(f"{restored.names[n]}: {a}" for n, a in some)
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but "
                f"were not restored): {names}"
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless all objects that have values are in the checkpoint."""
        unmatched = self._find_unmatched_objects()
        if unmatched:
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed "
                "values, likely due to changes in the Python program. Showing "
                f"{min(len(unmatched), MAX_LISTED)} of {len(unmatched)} unmatched objects: "
                f"{unmatched[:MAX_LISTED]}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise AssertionError if only the root is matched."""
        if len(self._restoration.bound) <= 1:
            unmatched = self._find_unmatched_objects()
            if unmatched:
                raise AssertionError(
                    "Nothing except the root object matched a checkpointed value. Typically this "
                    "means that the checkpoint does not match the Python program. The following "
                    f"objects have no matching checkpointed value: {unmatched}"
                )
            raise AssertionError(
                f"Nothing to load. No dependencies have been added to {self._restoration.root} yet."
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Do not warn about values without a matching object."""
        self._restoration.expects_partial = True
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: values are already restored."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Do nothing: values are already restored."""

    def _find_unmatched_objects(self) -> list[Any]:
        """Objects that have values but no node in the checkpoint."""
        restored = self._restoration
        bound = {id(value) for value in restored.bound.values()}
        walk = object_graph.ObjectWalk(restored.root, restored.attached)
        return [v for v in walk.objects if has_values(v) and id(v) not in bound]


class InitializationOnlyStatus:
    """The result of `restore(None)`."""

    def _raise_no_checkpoint(self) -> Any:
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self) -> Any:
        """Raise AssertionError."""
        return self._raise_no_checkpoint()

    def assert_existing_objects_matched(self) -> Any:
        """Raise AssertionError."""
        return self._raise_no_checkpoint()

    def assert_nontrivial_match(self) -> Any:
        """Raise AssertionError."""
        return self._raise_no_checkpoint()

    def expect_partial(self) -> InitializationOnlyStatus:
        """Do nothing: no value is restored."""
        return self

    def initialize_or_restore(self, session: Any = None) -> None:
        """Do nothing: variables are initialised on creation."""

    def run_restore_ops(self, session: Any = None) -> None:
        """Raise AssertionError."""
        self._raise_no_checkpoint()
