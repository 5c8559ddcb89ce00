"""The registry of ops that a model file may name, and the types of their attributes."""

import ast
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.primitive import REGISTRY
from gradtape.core.size_context import SizeContext
from gradtape.tf.saved_model import attribute_type as types
from gradtape.tf.saved_model.failure import CannotSave, MalformedModel
from gradtape.tf.saved_model.node_encoder import Encoder
from gradtape.tf.saved_model.op_schema import RawFunctionOp, Variadic
from gradtape.tf.saved_model.op_table.primitive import find_primitive, import_all_primitives
from gradtape.tf.saved_model.op_table.registry import HOST_OPS, find_host_op, find_op
from gradtape.tf.saved_model.value_decoder import ValueDecoder
from tests.sweep.registry import primitives, samples

NOT_SAVED = {
    "tf.io.read_file reads a file when the function runs",
    "tf.io.write_file writes a file when the function runs",
    "tf.io.matching_files lists files when the function runs",
    "tf.summary.histogram writes a file when the function runs",
    "tf.distribute talks to other workers when the function runs",
}

SIZES = SizeContext(with_hints=False)
N = SIZES.make_unknown("n")
SIZES.freeze()  # as the sizes of a file


COLLECTIVES = {"all_reduce", "broadcast"}  # they talk to other workers


def functions_of_arrays():
    """Functions of raw arrays that nodes call: the first arguments of `apply_raw` and others."""
    root = pathlib.Path(tf.__file__).parent
    callers = ("apply_raw", "compute_integer", "compute_constant")
    for path in sorted(root.glob("*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in callers:
                parts = path.relative_to(root).with_suffix("").parts
                module = importlib.import_module(".".join(["gradtape", *parts]))
                home, _, name = ast.unparse(node.args[0]).rpartition(".")
                found = getattr(getattr(module, home) if home else module, name, None)
                if found is not None:  # else a parameter of the function around it
                    yield found


def host_functions():
    """Functions of gradtape.tf that run on the host, by their decorators."""
    root = pathlib.Path(tf.__file__).parent / "tf"
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        module = importlib.import_module(".".join(["gradtape", "tf", *parts]))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                names = " ".join(map(ast.unparse, node.decorator_list))
                if "call_on_host" in names or "side_effect" in names:
                    yield getattr(module, node.name)


def test_every_function_that_nodes_call_has_an_op():
    functions = [*functions_of_arrays(), *host_functions()]
    assert len(functions) > 130
    refused = set()
    for function in functions:
        try:
            assert find_host_op(function).name in HOST_OPS
        except CannotSave as error:
            refused.add(str(error))
    assert refused == NOT_SAVED


@pytest.mark.parametrize("name", sorted(HOST_OPS))
def test_the_attributes_of_a_host_op_are_the_parameters_of_its_function(name):
    op = HOST_OPS[name]
    assert find_host_op(op.function) is op
    parameters = inspect.signature(inspect.unwrap(op.function)).parameters.values()
    names = [p.name for p in parameters if p.name not in ("name", "defer")]  # never in a file
    if op.module == "numpy":
        names = names[: len(op.attributes)]
    assert list(op.attributes) == names
    last = list(parameters)[-1]
    if isinstance(op, RawFunctionOp):
        variadic = last.kind is inspect.Parameter.VAR_POSITIONAL
        assert variadic == isinstance(list(op.attributes.values())[-1], Variadic)


def test_every_primitive_has_a_schema():
    import_all_primitives()
    ops = [op for op in REGISTRY.values() if op.kernel.__module__.startswith("gradtape.")]
    assert len(ops) > 200
    assert {op.name for op in ops if find_primitive(op.name) is None} == COLLECTIVES


def test_names_of_ops_are_unique():
    assert not set(HOST_OPS) & set(primitives())
    assert len({op.home for op in HOST_OPS.values()}) == len(HOST_OPS)


@pytest.mark.parametrize("name", sorted(set(primitives()) - COLLECTIVES))
def test_static_parameters_of_samples_are_saved_and_loaded(name):
    schema = find_op(name)
    for sample in samples()[name]:
        schema.check_attributes(sample.static)
        for attribute, value in sample.static.items():
            tree = Encoder().encode(value)
            loaded = ValueDecoder().decode(tree)
            schema.check_attributes({attribute: loaded})
            assert repr(loaded) == repr(value) or np.dtype(loaded) == np.dtype(value)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (types.FLAG, [True, False], [1, None, "true"]),
        (types.SIZE, [0, 5, np.int64(3), N, N * N + 1], [-1, 2**41, 1.0, True, "1", None, -N - 1]),
        (types.AXIS, [-1, 3], [64, -65, N + 64]),
        (types.SHAPE, [(N, 3)], [(N + 2**20 + 1, 2**20)]),
        (types.NUMBER, [1, 0.5, float("nan"), np.float32(1)], [True, "1", None, 1j]),
        (types.SHAPE, [(), (2, 3), [0, 2**40]], [(2**21, 2**20), (-1,), (1.0,), 3, (1,) * 65]),
        (types.INDEX, [(0, None, ..., slice(1, None, -1))], [(slice(0, 1, 0),), [0], ("a",)]),
        (types.DTYPE, [np.dtype("int32"), tf.float32, np.float32], ["float32", None, str, list]),
        (types.Choice(False), [False], [True, 0, None]),
        (types.Choice("a", "b"), ["a"], ["c", b"a", None]),
        (types.Named({"stdout": 1}), ["stdout"], ["file:///tmp/x", 1, None, []]),
        (types.Text(3, r"\w+"), ["ab"], ["", "abcd", "a b", b"ab"]),
        (types.TupleOf(types.FLAG, types.SIZE), [(True, 1)], [(True,), (1, True), None]),
        (types.DictOf(types.SIZE, ("a",)), [{}, {"a": 1}], [{"b": 1}, {"a": -1}, {1: 1}, []]),
        (types.ARRAY, [1, np.zeros(2), np.float32(1)], ["a", None, [1]]),
        (types.TENSOR_LIKE, ["a", b"a", [[1, 2.0], ["a"]]], [None, {}, object()]),
    ],
)
def test_types_of_attributes(kind, good, bad):
    for value in good:
        kind.check(value)
    for value in bad:
        with pytest.raises(MalformedModel, match="must be"):
            kind.check(value)


def test_named_objects_are_found_by_name():
    kind = types.Named({"zeros": np.zeros})
    assert kind.to_plain(np.zeros) == "zeros"
    assert kind.from_plain("zeros") is np.zeros
    for bad in ("ones", np.zeros, None):
        with pytest.raises(MalformedModel):
            kind.check(bad)


def test_an_unknown_op_is_named():
    for name in ("os:system", "gradtape.core.lazy_array:materialize", "eval", "", None, 3):
        with pytest.raises(MalformedModel, match="there is no op"):
            find_op(name)


def test_a_primitive_that_is_not_imported_yet_is_found(tmp_path):
    kernel = tf.ones([2, 2, 1, 1])
    module = tf.Module()
    spec = [tf.TensorSpec([None, 3, 3, 1])]
    module.f = tf.function(lambda x: tf.nn.conv2d(x, kernel, 1, "SAME"), input_signature=spec)
    tf.saved_model.save(module, tmp_path / "m")
    code = (
        "import gradtape as tf; m = tf.saved_model.load('m'); "
        "print(m.f(tf.ones([1, 3, 3, 1])).numpy().sum())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "25.0\n"
