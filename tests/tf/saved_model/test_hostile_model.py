"""Loading runs nothing: files that gradtape would not write are refused, and say what is wrong."""

import hashlib
import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

import numpy as np
import pytest

import gradtape as tf
from gradtape.tf.saved_model import limit
from gradtape.tf.saved_model.checksum import MANIFEST
from gradtape.tf.saved_model.file_layout import MODEL

DataLossError = tf.errors.DataLossError


def make_module(folder=None):
    """A module with a variable, a branch, a table, a print and perhaps an asset."""
    module = tf.Module()
    module.v = tf.Variable([1.0, 2.0], name="v")
    pairs = tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4])
    module.table = tf.lookup.StaticHashTable(pairs, -1)
    if folder is not None:
        (folder / "words.txt").write_text("a\nb\n")
        module.asset = tf.saved_model.Asset(str(folder / "words.txt"))

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def f(x):
        tf.print("x is", x)
        y = tf.reshape(x, [-1]) + tf.random.normal([1], seed=1) * 0.0
        found = module.table.lookup(tf.cast(y, tf.int32))
        z = tf.cond(tf.reduce_sum(y) > 0, lambda: y * 2.0, lambda: tf.linalg.det(tf.eye(2)) * y)
        return {"y": z + tf.cast(found, tf.float32) * 0.0, "m": tf.matmul(x, x, transpose_b=True)}

    module.f = f
    return module


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The tree of the module."""
    path = tmp_path_factory.mktemp("model") / "m"
    tf.saved_model.save(make_module(), path)
    return json.loads((path / MODEL).read_text())


def save_changed(tmp_path, change, module=None):
    """Save a model whose tree passes through `change` before it is written, checksums included."""
    plain, changed = json.dumps, []

    def dumps(tree, *args, **kwargs):
        if isinstance(tree, dict) and "objects" in tree:
            before = plain(tree)
            tree = json.loads(before)
            change(tree)
            changed.append(plain(tree) != before)
        return plain(tree, *args, **kwargs)

    path = tmp_path / "changed"
    with mock.patch("json.dumps", dumps):
        tf.saved_model.save(module or make_module(), path)
    assert changed == [True]
    return path


def graphs_of(tree):
    """All dicts with nodes."""
    if isinstance(tree, dict):
        if isinstance(tree.get("nodes"), list):
            yield tree
        for value in tree.values():
            yield from graphs_of(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from graphs_of(value)


def node_of(tree, op):
    """The first node with this op."""
    return next(n for graph in graphs_of(tree) for n in graph["nodes"] if n["op"] == op)


def write_tree(path, tree):
    """Replace the tree of a model, and its digest."""
    data = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    write_file(path, MODEL, data)


def write_file(path, name, data):
    """Replace a file of a model, and its digest."""
    (path / name).write_bytes(data)
    manifest = json.loads((path / MANIFEST).read_text())
    manifest["sha256"][name] = hashlib.sha256(data).hexdigest()
    (path / MANIFEST).write_text(json.dumps(manifest))


def test_the_model_works_as_it_was_written(tmp_path):
    tf.saved_model.save(make_module(tmp_path), tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    x = tf.constant([[1.0, 2.0]])
    np.testing.assert_allclose(loaded.f(x)["y"], [2.0, 4.0], rtol=1e-6)


def set_op(name, /, **more):
    def change(tree):
        node_of(tree, "reshape").update(op=name, **more)

    return change


def set_size(size):
    """Change that replaces the shape of a reshape by one size."""
    return set_static("reshape", shape={"$tuple": [size]})


def set_static(op, /, **static):
    return lambda tree: node_of(tree, op)["static"].update(static)


def insert_node(**node):
    def change(tree):
        graph = next(graphs_of(tree))
        graph["nodes"].insert(0, {"in": [], "out": [], "static": {}} | node)

    return change


def set_object(kind, /, **parts):
    def change(tree):
        next(o for o in tree["objects"] if o["kind"] == kind).update(parts)

    return change


def set_part(path, value):
    def change(tree):
        *first, last = path
        for key in first:
            tree = tree[key]
        tree[last] = value

    return change


PROGRAM = ("functions", 0, "variants", 0, "programs", 0, 1)
PRINT = {"inputs": {"$list": ["evil"]}, "edge": 3, "sep": " ", "end": "\n"}
HOSTILE = {
    "op_of_a_module_path": (set_op("gradtape.core.lazy_array:materialize"), "no op 'gradtape"),
    "op_of_python": (set_op("os.system"), r"nodes\[\d+\] \(os.system\): there is no op"),
    "op_that_is_no_text": (set_op(["reshape"]), "no op"),
    "op_that_reads_files": (set_op("io.read_file"), "no op 'io.read_file'"),
    "node_with_a_call": (set_op("reshape", call="os:system"), "no attribute 'call'"),
    "node_without_static": (lambda t: node_of(t, "reshape").pop("static"), "'static' is missing"),
    "unknown_attribute": (set_static("reshape", **{"a=open('x'),b": 1}), "no attribute"),
    "missing_attribute": (lambda t: node_of(t, "reshape")["static"].pop("rank"), "is missing"),
    "attribute_of_another_type": (set_static("reshape", rank="1"), "'rank' must be an integer"),
    "attribute_out_of_range": (set_static("reshape", rank=65), "from 0 to 64"),
    "attribute_too_large": (set_static("reshape", shape={"$tuple": [2**30, 2**30]}), "'shape'"),
    "print_to_a_file": (
        insert_node(op="print", static=PRINT | {"stream": "file:///tmp/x"}),
        "prints to the console only",
    ),
    "tag_of_a_function": (set_static("reshape", rank={"$function": "os:system"}), "no type"),
    "two_tags": (set_static("reshape", rank={"$tuple": [], "$list": []}), "one tag"),
    "list_without_a_tag": (set_static("reshape", shape=[1]), "a list is not a value"),
    "dtype_of_numpy": (set_static("discretize", dtype={"$dtype": ["O8,i4", False]}), "no dtype"),
    "value_from_the_future": (
        lambda t: node_of(t, "reshape").update({"in": [{"$value": 999}]}),
        "the value 999 does not exist",
    ),
    "value_computed_twice": (
        lambda t: node_of(t, "reshape").update(out=[0]),
        "computed twice",
    ),
    "too_many_inputs": (
        lambda t: node_of(t, "reshape").update({"in": [{"$value": 0}] * 2}),
        "takes 1 inputs",
    ),
    "no_outputs": (lambda t: node_of(t, "reshape").update(out=[]), "has one output"),
    "slot_without_an_input": (
        set_static("print", inputs={"$list": [{"$input": 7}]}),
        "places for the inputs",
    ),
    "table_that_is_not_there": (set_static("table.look_up", entries={"$table": 9}), "no table 9"),
    "table_in_another_place": (set_static("table.look_up", default={"$table": 0}), "'default'"),
    "size_of_a_missing_value": (
        set_static("reshape", shape={"$tuple": [{"$dim": [[1, [[999, 0]]]]}]}),
        "999",
    ),
    "size_without_terms": (set_size({"$dim": []}), "1 to 256 terms"),
    "size_of_many_terms": (set_size({"$dim": [[1, [[0, 0]]]] * 257}), "1 to 256 terms"),
    "size_of_many_factors": (set_size({"$dim": [[1, [[0, 0]] * 17]]}), "at most 16 factors"),
    "size_by_an_unknown_function": (
        set_size({"$dim": [[1, [{"__import__": [{"$dim": [[1, [[0, 0]]]]}, 2]}]]]}),
        "no function of sizes",
    ),
    "size_by_a_function_of_numbers": (
        set_size({"$dim": [[1, [{"//": [1, 0]}]]]}),
        "an expression of sizes has a size",
    ),
    "size_of_an_axis_that_no_array_has": (set_size({"$dim": [[1, [[0, 64]]]]}), "from 0 to 63"),
    "size_with_a_float": (set_size({"$dim": [[0.5, [[0, 0]]]]}), "an integer from"),
    "size_that_is_always_negative": (
        set_size({"$dim": [[-1, [[0, 0]]], [-1, []]]}),
        "'shape' must be a shape",
    ),
    "assumption_of_another_kind": (
        set_part((*PROGRAM, "graph", "assumptions"), [["or", 0, True]]),
        "no comparison of sizes",
    ),
    "assumption_that_is_false": (
        set_part((*PROGRAM, "graph", "assumptions"), [["==", 1, True]]),
        "does not hold",
    ),
    "assumption_about_a_missing_value": (
        set_part((*PROGRAM, "graph", "assumptions"), [["<", {"$dim": [[1, [[999, 0]]]]}, True]]),
        "999",
    ),
    "assumption_without_an_answer": (
        set_part((*PROGRAM, "graph", "assumptions"), [["<", {"$dim": [[1, [[0, 0]]]]}, 1]]),
        "true or false",
    ),
    "branches_of_other_counts": (
        lambda t: node_of(t, "cond")["static"]["branches"]["$tuple"].pop(),
        "'branches'",
    ),
    "branch_with_more_inputs": (
        lambda t: node_of(t, "cond")["in"].append({"$value": 0}),
        "inputs of a branch",
    ),
    "effect_in_a_branch": (
        lambda t: list(graphs_of(t))[1]["nodes"].append(
            {"op": "print", "in": [], "out": [], "static": PRINT | {"stream": "stderr"}}
        ),
        "cannot be part of a body",
    ),
    "variable_that_is_not_there": (set_static("install", key=99), "no variable 99"),
    "kind_of_object": (set_object("variable", kind="module"), "no kind of objects 'module'"),
    "dtype_of_a_variable": (set_object("variable", dtype="float64"), "another dtype"),
    "shape_of_a_variable": (set_object("variable", shape=[3]), "shape"),
    "key_of_a_variable": (set_object("variable", key="../x"), "no value"),
    "choice_of_a_variable": (set_object("variable", aggregation="__class__"), "no choice"),
    "name_of_an_attribute": (
        lambda t: t["objects"][0]["children"].append(["__class__", 0]),
        "attribute '__class__'",
    ),
    "attribute_that_is_a_method": (
        lambda t: t["objects"][0]["children"].append(["_track_trackable", 0]),
        "attribute '_track_trackable'",
    ),
    "child_that_is_not_there": (
        lambda t: t["objects"][0]["children"].append(["child", 99]),
        "no object 99",
    ),
    "name_of_a_parameter": (
        set_part(("functions", 0, "parameters"), [["a=open('x')", 1, []]]),
        "no name of a parameter",
    ),
    "kind_of_a_parameter": (set_part(("functions", 0, "parameters"), [["a", 9, []]]), "integer"),
    "name_of_a_signature": (
        set_part(("signatures", "serving_default", "names"), ["class"]),
        "no name of a parameter",
    ),
    "structure_of_the_result": (
        set_part(("functions", 0, "variants", 0, "returned"), {"$result": 99}),
        "no result 99",
    ),
    "class_of_the_result": (
        set_part(("functions", 0, "variants", 0, "returned"), {"$object": []}),
        "no type",
    ),
    "unknown_part": (set_part(("hooks",), []), "no attribute 'hooks'"),
    "missing_part": (lambda t: t.pop("aliases"), "'aliases' is missing"),
    "no_objects": (set_part(("objects",), []), "at least one object"),
    "captures": (set_part((*PROGRAM, "captures"), [{"asset": 1}]), "captures"),
    "states": (set_part((*PROGRAM, "states"), []), "variables"),
    "stream": (set_part((*PROGRAM, "states", 0), {"stream": {"key": "x", "high": None}}), "seed"),
    "ranks": (set_part(("functions", 0, "variants", 0, "programs", 0, 0), [7]), "rank"),
    "deep_nesting": (
        set_part(("aliases",), json.loads('{"a":' * 300 + "0" + "}" * 300)),
        "nested at most",
    ),
    "long_integer": (set_part(("aliases", "a"), 10**40), "64 bits"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_tree_is_refused(case, tmp_path):
    change, message = HOSTILE[case]
    path = save_changed(tmp_path, change)
    with pytest.raises(DataLossError, match=message):
        tf.saved_model.load(path)


def test_refusal_comes_before_anything_is_built(tmp_path):
    path = save_changed(tmp_path, set_part(("signatures", "serving_default", "name"), 3))
    build = "gradtape.tf.saved_model.loader.Loader.build_object"
    with mock.patch(build, side_effect=AssertionError), pytest.raises(DataLossError):
        tf.saved_model.load(path)


def test_attributes_that_depend_on_sizes_are_checked_at_the_call(tmp_path):
    def change(tree):
        size = {"$dim": [[-1, [[0, 0]]]]}
        node_of(tree, "reshape")["static"]["shape"] = {"$tuple": [size]}

    loaded = tf.saved_model.load(save_changed(tmp_path, change))
    with pytest.raises(DataLossError, match="'shape' must be a shape"):
        loaded.f(tf.ones([2, 2]))


def test_errors_of_a_graph_that_cannot_run_are_tensorflows(tmp_path):
    def change(tree):
        node_of(tree, "reshape")["static"]["shape"] = {"$tuple": [7]}

    loaded = tf.saved_model.load(save_changed(tmp_path, change))
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"f: |reshape"):
            loaded.f(tf.ones([2, 2]))


def test_a_loaded_print_writes_to_the_console_only(tmp_path):
    module = tf.Module()
    spec = [tf.TensorSpec([])]

    def shout(x):
        tf.print("out", x, output_stream=sys.stdout)
        tf.print("err", x, output_stream=sys.stderr)
        return x

    module.f = tf.function(shout, input_signature=spec)
    tf.saved_model.save(module, tmp_path / "m")
    loaded = tf.saved_model.load(tmp_path / "m")
    for _ in range(2):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            loaded.f(tf.constant(1.0))
        assert (out.getvalue(), err.getvalue()) == ("out 1\n", "err 1\n")


def write_to_file(x):
    tf.io.write_file("x", x)
    return x


def print_to_file(x):
    tf.print(x, output_stream="file:///tmp/x")
    return x


def sample_from_file(x):
    classes = tf.zeros([1, 1], tf.int64) + tf.cast(tf.strings.length(x), tf.int64) * 0
    return tf.random.fixed_unigram_candidate_sampler(
        classes, 1, 1, True, 2, vocab_file="/tmp/words"
    ).sampled_candidates


EFFECTS = {
    "py_function": lambda x: tf.py_function(lambda y: y, [x], tf.string),
    "numpy_function": lambda x: tf.numpy_function(lambda y: y, [x], tf.string),
    "read_file": lambda x: tf.io.read_file(x),
    "write_file": write_to_file,
    "matching_files": lambda x: tf.io.matching_files(x),
    "print": print_to_file,
    "vocab_file": sample_from_file,
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_outside_of_the_program_are_not_saved(name, tmp_path):
    module = tf.Module()
    module.f = tf.function(EFFECTS[name], input_signature=[tf.TensorSpec([], tf.string)])
    with pytest.raises(tf.errors.UnimplementedError, match=name):
        tf.saved_model.save(module, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert not os.path.exists("x")


# -- damage


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m"
    tf.saved_model.save(make_module(tmp_path), path)
    return path


def test_a_change_of_any_file_is_found(saved):
    names = [p.relative_to(saved).as_posix() for p in saved.rglob("*") if p.is_file()]
    assert len(names) == 7
    rng = np.random.default_rng(0)
    for name in names:
        good = (saved / name).read_bytes()
        for at in {0, len(good) - 1, *rng.integers(len(good), size=5).tolist()}:
            bad = bytearray(good)
            bad[at] ^= 1 << int(rng.integers(8))
            (saved / name).write_bytes(bytes(bad))
            with pytest.raises(DataLossError):
                tf.saved_model.load(saved)
        for part in (good[:-1], good + b" x", b""):
            (saved / name).write_bytes(part)
            with pytest.raises(DataLossError):
                tf.saved_model.load(saved)
        (saved / name).unlink()
        with pytest.raises(OSError if name == MODEL else DataLossError):
            tf.saved_model.load(saved)
        (saved / name).write_bytes(good)
    tf.saved_model.load(saved)


def test_models_of_the_first_format_are_to_be_saved_again(saved):
    (saved / MANIFEST).unlink()
    (saved / MODEL).write_text('{"version": 1, "objects": []}')
    with pytest.raises(DataLossError, match=r"version 1 of the format.*Save the model again"):
        tf.saved_model.load(saved)
    (saved / MODEL).write_text("{}")
    with pytest.raises(DataLossError, match="incomplete"):
        tf.saved_model.load(saved)


def test_models_of_a_later_format_are_refused(saved):
    manifest = json.loads((saved / MANIFEST).read_text())
    (saved / MANIFEST).write_text(json.dumps(manifest | {"version": 4}))
    with pytest.raises(DataLossError, match="version 4 of the format"):
        tf.saved_model.load(saved)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not valid JSON"),
        (b"\xff", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[" * 300 + b"]" * 300, "nested at most"),
        (b'{"a": 1, "a": 2}', "repeated"),
        (b"[NaN]", "NaN"),
        (b"1" * 5000, "JSON"),
        (b'["\\ud800"]', "Unicode"),
        (b"[]", "a dict is expected"),
    ],
)
def test_a_file_that_is_no_tree_is_refused(saved, data, message):
    write_tree(saved, data)
    with pytest.raises(DataLossError, match=message):
        tf.saved_model.load(saved)


def test_files_have_limits(saved, monkeypatch, tree):
    monkeypatch.setattr("gradtape.tf.saved_model.file_layout.MAX_MODEL_BYTES", 100)
    with pytest.raises(DataLossError, match="at most 100 bytes"):
        tf.saved_model.load(saved)
    monkeypatch.undo()
    monkeypatch.setattr("gradtape.tf.saved_model.graph_check.MAX_NODES", 3)
    with pytest.raises(DataLossError, match="at most 3 nodes"):
        tf.saved_model.load(saved)
    monkeypatch.undo()
    monkeypatch.setattr(limit, "MAX_VALUES", 10)
    with pytest.raises(DataLossError, match="at most 10 values"):
        tf.saved_model.load(saved)
    with pytest.raises(tf.errors.UnimplementedError, match="at most 10 values"):
        tf.saved_model.save(make_module(), saved.parent / "too_large")
    assert not (saved.parent / "too_large").exists()


def test_a_pipe_in_place_of_a_file_is_refused(saved):
    for name in (MANIFEST, "gradtape_constants.index", "assets/words.txt"):
        good = (saved / name).read_bytes()
        (saved / name).unlink()
        os.mkfifo(saved / name)
        with pytest.raises(DataLossError):
            tf.saved_model.load(saved)
        (saved / name).unlink()
        (saved / name).write_bytes(good)


# -- assets


@pytest.mark.parametrize(
    "name", ["../../secret.txt", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "c:x", "a\0b", 3]
)
def test_the_name_of_an_asset_stays_inside(tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret")
    path = save_changed(tmp_path, set_object("asset", file=name), make_module(tmp_path))
    with pytest.raises(DataLossError):
        tf.saved_model.load(path)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_asset_is_no_link_to_the_outside(tmp_path, saved, what):
    (tmp_path / "outside").mkdir()
    outside = tmp_path / "outside" / "words.txt"
    outside.write_text("a\nb\n")  # the same content, so the digest is right
    (saved / "assets" / "words.txt").unlink()
    if what == "file":
        (saved / "assets" / "words.txt").symlink_to(outside)
    else:
        (saved / "assets").rmdir()
        (saved / "assets").symlink_to(outside.parent)
    with pytest.raises(DataLossError, match="leaves the directory"):
        tf.saved_model.load(saved)


def test_odd_names_of_assets_are_saved(tmp_path):
    module = tf.Module()
    names = ["a:b.txt", "c\\d.txt", "e\nf.txt", "g h.txt"]
    module.assets = []
    for name in names:
        (tmp_path / name).write_text(name)
        module.assets.append(tf.saved_model.Asset(str(tmp_path / name)))
    tf.saved_model.save(module, tmp_path / "m")
    for name, asset in zip(names, tf.saved_model.load(tmp_path / "m").assets, strict=True):
        with open(asset.path, encoding="utf-8") as file:
            assert file.read() == name


def test_a_model_in_a_linked_directory_is_loaded(tmp_path, saved):
    (tmp_path / "link").symlink_to(saved)
    assert tf.saved_model.load(tmp_path / "link").asset.path.startswith(str(tmp_path / "link"))


def test_parameters_must_take_the_arguments_of_each_variant(tmp_path):
    def drop_parameters(tree):
        tree["functions"][0]["parameters"] = []

    with pytest.raises(DataLossError, match="parameters do not take the arguments"):
        tf.saved_model.load(save_changed(tmp_path, drop_parameters))


@pytest.mark.parametrize("name", ["imag", "angle"])
def test_parts_of_real_tensors_have_a_gradient_of_zero(tmp_path, name):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.sin(x) * 2.0)
    module.f(tf.ones([2]))

    def rename(tree):
        node_of(tree, "sin")["op"] = name

    loaded = tf.saved_model.load(save_changed(tmp_path, rename, module))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.0]
