"""The graph of objects in a checkpoint: their children, and the keys of their values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradtape.core.convert import convert
from gradtape.files.protobuf import make_message_classes
from gradtape.state.checkpoint.trackable import children_of, has_values

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
ATTRIBUTES_PART = ".ATTRIBUTES"
MAX_NAME_PARTS = 20  # names in a path that a message shows
MAX_NAME_LENGTH = 100  # characters of such a name

ObjectGraphProto, Node, Child, Attribute, Slot, Saver, Bool = make_message_classes(
    "gradtape/object_graph.proto",
    {
        "TrackableObjectGraph": "nodes:1:TrackableObject*",
        "TrackableObject": (
            "children:1:ObjectReference* attributes:2:SerializedTensor* "
            "slot_variables:3:SlotVariableReference* registered_saver:4:RegisteredSaver "
            "has_checkpoint_values:5:BoolValue"
        ),
        "ObjectReference": "node_id:1:int32 local_name:2:string",
        "SerializedTensor": "name:1:string full_name:2:string checkpoint_key:3:string",
        "SlotVariableReference": (
            "original_variable_node_id:1:int32 slot_name:2:string slot_variable_node_id:3:int32"
        ),
        "RegisteredSaver": "name:1:string object_name:2:string",
        "BoolValue": "value:1:bool",
    },
    __name__,
)


class ObjectWalk:
    """All objects below a root, each once, in TensorFlow's order.

    Attributes:
        objects: the objects, the root first.
        children: for each object, the names and numbers of its children.
        paths: for each object, the names on the path from the root to it.
    """

    def __init__(self, root: Any, attached: dict[str, Any], save_type: str = "checkpoint") -> None:
        """Walk the graph; `attached` are additional children of the root."""
        self.objects = [root]
        self.children: list[list[tuple[str, int]]] = []
        self.paths: list[tuple[str, ...]] = [()]
        numbers = {id(root): 0}
        for number, value in enumerate(self.objects):  # grows during the loop
            found = children_of(value, save_type)
            if number == 0:
                found |= attached
            self.children.append([])
            for name, child in found.items():
                if id(child) not in numbers:
                    numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                    self.paths.append((*self.paths[number], name))
                self.children[number].append((name, numbers[id(child)]))


def collect_tensors(root: Any, attached: dict[str, Any]) -> dict[str, Any]:
    """The raw arrays to save, by key, including the object graph."""
    return collect_tensors_and_keys(ObjectWalk(root, attached))[0]


def collect_tensors_and_keys(walk: ObjectWalk) -> tuple[dict[str, Any], list[str]]:
    """The raw arrays to save, by key, and the key of each object's value, or ""."""
    graph, tensors = ObjectGraphProto(), {}
    keys = []
    for value, path, children in zip(walk.objects, walk.paths, walk.children, strict=True):
        node = graph.nodes.add()
        for name, number in children:
            node.children.add(local_name=name, node_id=number)
        keys.append("")
        if has_values(value):
            for name, tensor in value._serialize_to_tensors().items():
                key = "/".join((*map(escape_name, path), ATTRIBUTES_PART, escape_name(name)))
                key = key if path else f"/{key}"
                full_name = getattr(value, "_shared_name", "")
                node.attributes.add(name=name, full_name=full_name, checkpoint_key=key)
                tensors[key] = convert(tensor)._array
                keys[-1] = key
    mark_values(graph.nodes)
    tensors[OBJECT_GRAPH_KEY] = convert(graph.SerializeToString())._array
    return tensors, keys


def mark_values(nodes: Any) -> None:
    """Set `has_checkpoint_values` of each node: whether it or a node below it has values."""
    parents: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for child in node.children:
            parents[child.node_id].append(number)
    found = {number for number, node in enumerate(nodes) if node.attributes}
    front: Iterable[int] = list(found)
    while front:
        front = {parent for number in front for parent in parents[number]} - found
        found |= front
    for number, node in enumerate(nodes):
        node.has_checkpoint_values.value = number in found


def escape_name(name: str) -> str:
    """Escape dots and slashes, which separate the parts of a key."""
    return name.replace(".", "..").replace("/", ".S")


class NodeNames:
    """For each node, the path from the root, for messages.

    A path is made when it is asked for: all paths of a deep graph together are quadratic in size.
    """

    def __init__(self, graph: Any) -> None:
        """Find the parent of each node."""
        self._parents: dict[int, tuple[int, str]] = {0: (0, "(root)")}
        order = [0]
        for number in order:  # grows during the loop
            for child in graph.nodes[number].children:
                if child.node_id not in self._parents:
                    self._parents[child.node_id] = (number, child.local_name)
                    order.append(child.node_id)

    def __getitem__(self, number: int) -> str:
        """The path of a node; the middle of a long one is left out."""
        if number not in self._parents:
            return f"(node {number})"
        parts: list[str] = []
        while number:
            number, name = self._parents[number]
            parts.append(name[:MAX_NAME_LENGTH])
        parts.append("(root)")
        if len(parts) > MAX_NAME_PARTS:
            parts[2 : 2 - MAX_NAME_PARTS] = ["…"]
        return ".".join(reversed(parts))
