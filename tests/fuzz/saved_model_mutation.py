"""Mutations of saved models: what a hostile or broken program could write, checksums included."""

import copy
import hashlib
import json
import os
import shutil

import numpy as np

from gradtape.core.primitive import REGISTRY
from gradtape.files import tensor_bundle
from gradtape.tf.saved_model import checksum, file_layout
from gradtape.tf.saved_model.op_table.primitive import import_all_primitives
from gradtape.tf.saved_model.op_table.registry import HOST_OPS

MARKER = "zq_fuzz_marker"  # in every text that a mutation inserts

NASTY_TEXTS = (
    f"a=open('{MARKER}', 'w'),b",
    f"__import__('os').system('touch {MARKER}')",
    f"os:system {MARKER}",
    f"gradtape.core.lazy_array:materialize {MARKER}",
    f"file://{MARKER}",
    f"../../{MARKER}",
    f"/etc/{MARKER}",
    f"{MARKER}\n\x00\x1b",
    f"{{{MARKER}.__class__}}",
    f"%1000000000d {MARKER}",
    MARKER * 500,
)
NASTY_NAMES = (
    "__class__", "__dict__", "__call__", "__init__", "__reduce__", "_track_trackable", "_array",
    "numpy", "eval", "exec", "py_function", "read_file", "write_file", "io.read_file", "print",
    "os", "sys", "self", "class", "lambda", "", ".", "..", "nul",
)  # fmt: skip
NASTY_NUMBERS = (
    0, 1, -1, 2, 3, 7, -2, 63, 64, 65, 255, 1000, 2**15, 2**20, 2**31 - 1, 2**31, 2**32, 2**40,
    2**62, 2**63 - 1, 2**63, 2**64, -(2**31), -(2**63), 10**30, 0.5, -0.0, 1e308, 1e-320,
)  # fmt: skip
NASTY_VALUES = (
    None, True, False, [], {}, [[]], [None], {"$tuple": []}, {"$list": [{"$list": []}]},
    {"$dict": [[1, 2], ["a", {"$tuple": []}]]}, {"$bytes": "\u0100"}, {"$bytes": "ab"},
    {"$float": "nan"}, {"$float": "inf"}, {"$complex": [1, 2]}, {"$slice": [None, None, 0]},
    {"$slice": [5, -1, -1]}, {"$ellipsis": []}, {"$dtype": ["float64", False]},
    {"$dtype": ["string", True]}, {"$dtype": ["variant", True]}, {"$shape": None},
    {"$shape": [None, 2]}, {"$spec": [None, "float32", None]}, {"$spec": [[2], "int32", "n"]},
    {"$record": ["Window", []]}, {"$record": ["object", []]}, {"$dim": [[1, [[0, 0]]]]},
    {"$dim": [[2**62, [[0, 0], [0, 0]]], [2**62, []]]}, {"$dim": [[1, [[999, 0]]]]},
    {"$dim": [[1, [[0, None]]]]}, {"$dim": [[1, [{"//": [{"$dim": [[1, [[0, 0]]]]}, 0]}]]]},
    {"$dim": [[1, [{"max": [2**62, {"$dim": [[-1, [[0, 1]]]]}]}]]]}, {"$dim": []},
    {"$dim": [[1, [[0, 0]] * 16]] * 3}, {"$input": 0},
    {"$input": 1}, {"$table": 0}, {"$table": 5}, {"$constant": 0}, {"$constant": 10**6},
    {"$value": 0}, {"$value": 10**6}, {"$value": -1}, {"$body": {}}, {"$layout": {}},
    {"$custom": {}}, {"$function": "os:system"}, {"$primitive": "exp"}, {"$named": "os"},
    {"$tuple": [1], "$list": [2]}, {"call": "os:system"},
)  # fmt: skip


class SavedModel:
    """A model in memory: its tree, its arrays and its variables.

    Attributes:
        directory: where it was saved.
        tree: the tree that JSON holds.
    """

    def __init__(self, directory):
        self.directory = directory
        with open(os.path.join(directory, file_layout.MODEL), encoding="utf-8") as file:
            self.tree = json.load(file)
        with open(os.path.join(directory, checksum.MANIFEST), encoding="utf-8") as file:
            self.manifest = json.load(file)
        self.primitives = sorted({node["op"] for node in nodes_of(self.tree)})


def nodes_of(tree):
    """All nodes of all graphs."""
    found, rest = [], [tree]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            if isinstance(value.get("nodes"), list):
                found += [node for node in value["nodes"] if isinstance(node, dict)]
            rest += value.values()
        elif isinstance(value, list):
            rest += value
    return found


def places_of(tree):
    """(container, key) of every value in a tree."""
    found, rest = [], [tree]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            items = list(value.items())
        elif isinstance(value, list):
            items = list(enumerate(value))
        else:
            continue
        found += [(value, key) for key, _ in items]
        rest += [one for _, one in items]
    return found


class Mutator:
    """Changes trees; every choice comes from `rng`."""

    def __init__(self, rng, models):
        self.rng = rng
        self.models = models
        self.op_names = [*HOST_OPS, *sorted({op for m in models for op in m.primitives})]

    def choose(self, options):
        return options[int(self.rng.integers(len(options)))]

    def make_value(self):
        """A value that gradtape would not write here."""
        kind = self.rng.random()
        if kind < 0.25:
            return self.choose(NASTY_NUMBERS)
        if kind < 0.45:
            return self.choose(NASTY_TEXTS)
        if kind < 0.55:
            return self.choose(NASTY_NAMES)
        if kind < 0.65:
            return self.choose(self.op_names)
        return copy.deepcopy(self.choose(NASTY_VALUES))

    def mutate(self, tree):
        """Change one place of a tree."""
        actions = (
            self.replace_value,
            self.replace_value,
            self.nudge_number,
            self.nudge_number,
            self.delete_value,
            self.add_key,
            self.rename_key,
            self.splice,
            self.splice,
            self.duplicate,
            self.change_op,
            self.change_op,
            self.change_node,
            self.change_node,
            self.add_host_node,
            self.nest_deeply,
        )
        gentle = (
            self.swap_op,
            self.rewire,
            self.rewire,
            self.change_attribute,
            self.swap_constants,
        )
        self.choose(actions if self.rng.random() < 0.5 else gentle)(tree)

    def choose_place(self, tree):
        return self.choose(places_of(tree))

    def replace_value(self, tree):
        container, key = self.choose_place(tree)
        container[key] = self.make_value()

    def nudge_number(self, tree):
        places = [(c, k) for c, k in places_of(tree) if type(c[k]) in (int, float)]
        container, key = self.choose(places)
        container[key] = self.choose(
            (container[key] + 1, container[key] - 1, -container[key], self.choose(NASTY_NUMBERS))
        )

    def delete_value(self, tree):
        container, key = self.choose_place(tree)
        del container[key]

    def add_key(self, tree):
        dicts = [c for c, _ in places_of(tree) if isinstance(c, dict)]
        names = (*NASTY_TEXTS, *NASTY_NAMES, "static", "nodes", "$value", "args", "call")
        self.choose(dicts)[self.choose(names)] = self.make_value()

    def rename_key(self, tree):
        places = [(c, k) for c, k in places_of(tree) if isinstance(c, dict)]
        container, key = self.choose(places)
        container[self.choose((*NASTY_TEXTS, *NASTY_NAMES, f"{key}x"))] = container.pop(key)

    def splice(self, tree):
        container, key = self.choose_place(tree)
        source, other = self.choose(places_of(self.choose(self.models).tree))
        container[key] = copy.deepcopy(source[other])

    def duplicate(self, tree):
        lists = [c for c, _ in places_of(tree) if isinstance(c, list) and c]
        if lists:
            chosen = self.choose(lists)
            chosen.insert(
                int(self.rng.integers(len(chosen) + 1)), copy.deepcopy(self.choose(chosen))
            )

    def change_op(self, tree):
        node = self.choose(nodes_of(tree))
        node["op"] = self.choose((*self.op_names, *NASTY_NAMES))

    def change_node(self, tree):
        node = self.choose(nodes_of(tree))
        part = self.choose(("in", "out", "static"))
        inner = node.get(part)
        if isinstance(inner, dict) and inner:
            inner[self.choose(list(inner))] = self.make_value()
        elif isinstance(inner, list) and inner:
            at = int(self.rng.integers(len(inner)))
            inner[at] = self.choose(
                (self.make_value(), {"$value": int(self.rng.integers(40))}, {"$constant": 0})
            )

    def swap_op(self, tree):
        """Replace an op by another one with the same attributes."""
        node = self.choose(nodes_of(tree))
        import_all_primitives()
        names = set(node["static"])
        alike = [op.name for op in REGISTRY.values() if set(op.statics) == names]
        alike += [op.name for op in HOST_OPS.values() if set(op.attributes) == names]
        node["op"] = self.choose(alike)

    def rewire(self, tree):
        """Make a node read another value that exists before it."""
        graphs = [
            c for c, k in places_of(tree) if k == "nodes" and isinstance(c.get("nodes"), list)
        ]
        graph = self.choose(graphs)
        at = int(self.rng.integers(len(graph["nodes"])))
        known = [n for part in ("inputs", "captures", "states") for n in graph.get(part, [])]
        known += [n for node in graph["nodes"][:at] for n in node["out"]]
        inputs = graph["nodes"][at]["in"]
        inputs[int(self.rng.integers(len(inputs)))] = {"$value": self.choose(known)}

    def change_attribute(self, tree):
        """Give an attribute another value of the same kind."""
        node = self.choose([n for n in nodes_of(tree) if n["static"]])
        places = [(node["static"], key) for key in node["static"]] + places_of(node["static"])
        places = [(c, k) for c, k in places if not isinstance(c[k], (dict, list))]
        container, key = self.choose(places)
        value = container[key]
        if isinstance(value, bool):
            container[key] = not value
        elif isinstance(value, (int, float)):
            container[key] = value + self.choose((-3, -2, -1, 1, 2, 100, 10**4, 10**7))
        else:
            container[key] = self.choose((None, 0, "", "float64", "int32", "string", "ij->ji"))

    def swap_constants(self, tree):
        """Use another array of the model."""
        places = [c for c, k in places_of(tree) if k == "$constant"]
        self.choose(places)["$constant"] = int(self.rng.integers(8))

    def add_host_node(self, tree):
        """Add a node with all attributes of its op; the values are arbitrary."""
        graphs = [
            c for c, k in places_of(tree) if k == "nodes" and isinstance(c.get("nodes"), list)
        ]
        if not graphs:
            return
        op = self.choose(list(HOST_OPS.values()))
        guesses = (
            {"$input": 0}, {"$value": 0}, 0, 1, 2, True, False, None, "", "UTF-8", "stdout", "add",
            f"file://{MARKER}", MARKER, {"$list": [{"$input": 0}]}, {"$tuple": [2, 3]},
            {"$dtype": ["int32", False]}, {"$list": []}, {"$dict": []}, {"$table": 0}, "left",
        )  # fmt: skip
        static = {name: copy.deepcopy(self.choose(guesses)) for name in op.attributes}
        inputs = [{"$value": int(self.rng.integers(5))}] * int(self.rng.integers(3))
        node = {"op": op.name, "in": inputs, "out": [int(self.rng.integers(900, 999))]}
        nodes = self.choose(graphs)["nodes"]
        nodes.insert(int(self.rng.integers(len(nodes) + 1)), node | {"static": static})

    def nest_deeply(self, tree):
        container, key = self.choose_place(tree)
        for _ in range(int(self.choose((3, 30, 150)))):
            container[key] = {self.choose(("$tuple", "$list", "x")): [container[key]]}


def write_mutation(model, target, rng, mutator):
    """Write a changed copy of a model to the directory `target`; say what was changed."""
    for name in model.manifest["sha256"]:
        path = os.path.join(target, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(os.path.join(model.directory, name), path)
    digests = dict(model.manifest["sha256"])
    what = mutator.choose(("tree",) * 16 + ("arrays", "arrays", "bytes", "manifest"))
    if what == "tree":
        tree = copy.deepcopy(model.tree)
        for _ in range(int(mutator.choose((1, 1, 1, 2, 3)))):
            try:
                mutator.mutate(tree)
            except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
                continue  # an earlier mutation left nothing to change
        try:
            data = json.dumps(tree).encode()
        except RecursionError:  # nested more deeply than Python's encoder can
            data = b"[" * 5000 + b"]" * 5000
        write_bytes(target, file_layout.MODEL, data, digests)
    elif what == "arrays":
        change_arrays(target, mutator, digests)
    elif what == "bytes":
        change_bytes(target, mutator, digests)
    manifest = {**model.manifest, "sha256": digests}
    if what == "manifest":
        for _ in range(2):
            mutator.replace_value(manifest)
    with open(os.path.join(target, checksum.MANIFEST), "w", encoding="utf-8") as file:
        json.dump(manifest, file)
    return what


def write_bytes(target, name, data, digests):
    """Write a file, and its digest."""
    with open(os.path.join(target, name), "wb") as file:
        file.write(data)
    digests[name] = hashlib.sha256(data).hexdigest()


def change_arrays(target, mutator, digests):
    """Change arrays of the constants or variables: dtype, shape, values, or their number."""
    prefix = mutator.choose((file_layout.CONSTANTS, file_layout.VARIABLES))
    path = os.path.join(target, prefix)
    reader = tensor_bundle.BundleReader(path)
    arrays = {key: reader.read(key) for key in reader.entries}
    if arrays:
        key = mutator.choose(sorted(arrays))
        array = arrays[key]
        arrays[key] = mutator.choose(
            (
                array.reshape(-1),
                array[None],
                np.zeros((0, 3), array.dtype),
                np.full(array.shape, mutator.choose((-1, 0, 1, 2**31 - 1, -(2**31))), np.int64),
                np.full(array.shape, mutator.choose((np.nan, np.inf, -1.0, 1e30)), np.float32),
                np.full(array.shape, MARKER.encode(), object),
                np.zeros(array.shape, bool),
                np.zeros((200, 200), np.complex128),
            )
        )
        if mutator.rng.random() < 0.2:
            arrays[MARKER] = arrays.pop(key)
    for name in list(digests):
        if name.startswith(f"{prefix}."):
            os.unlink(os.path.join(target, name))
            del digests[name]
    tensor_bundle.write_bundle(path, arrays)
    for name in file_layout.bundle_files(target, prefix):
        with open(os.path.join(target, name), "rb") as file:
            digests[name] = hashlib.sha256(file.read()).hexdigest()


def change_bytes(target, mutator, digests):
    """Change some bytes of a file, or cut it off; its digest is right in half of the cases."""
    name = mutator.choose(sorted(digests))
    with open(os.path.join(target, name), "rb") as file:
        data = bytearray(file.read())
    if data and mutator.rng.random() < 0.8:
        for _ in range(int(mutator.rng.integers(1, 6))):
            data[int(mutator.rng.integers(len(data)))] = int(mutator.rng.integers(256))
    else:
        data = data[: int(mutator.rng.integers(len(data) + 1))]
    changed = dict(digests)
    write_bytes(target, name, bytes(data), changed)
    if mutator.rng.random() < 0.5:
        digests.update(changed)
