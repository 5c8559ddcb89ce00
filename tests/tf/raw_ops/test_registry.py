"""The table of raw ops: rows are read, expressions resolve, calls take keywords.

`tests/parity/test_raw_ops.py` compares signatures and results with TensorFlow.
"""

import ast
from importlib import import_module

import pytest

import gradtape as tf
from gradtape.tf.raw_ops.registry import parse_row, read_rows

OPS = read_rows()


def test_a_row_has_parameters_results_and_an_expression():
    op = parse_row("Top(x: T, k: int=1) -> values: T, n: N*T where T: real is f(x, k)")
    assert op.parameters == (("x", "T", None), ("k", "int", "1"))
    assert op.results == (("values", "T"), ("n", "N*T"))
    assert (op.inferred, op.expression) == ("T: real", "f(x, k)")


@pytest.mark.parametrize("name", OPS)
def test_expressions_name_what_exists(name):
    parameters = {p.name for p in OPS[name].parameters}
    used = set()
    for node in ast.walk(ast.parse(OPS[name].expression)):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Attribute):
            resolve(ast.unparse(node))
    assert used - parameters <= {"tf", "raw", "int"}
    assert getattr(tf.raw_ops, name).__name__ == name


def resolve(path):
    """Look a dotted name up, if it belongs to gradtape or to the folder of raw ops."""
    if not path.replace(".", "").isidentifier():
        return
    first, *rest = path.split(".")
    if first == "tf":
        value = tf
    elif first == "raw":
        if len(rest) == 1:
            return
        value, rest = import_module(f"gradtape.tf.raw_ops.{rest[0]}"), rest[1:]
    else:
        return
    for part in rest:
        value = getattr(value, part)


def test_calls_take_keywords_only():
    with pytest.raises(TypeError, match=r"Add only takes keyword args .*'x', 'y', 'name'"):
        tf.raw_ops.Add(1, 2)
    with pytest.raises(TypeError, match="z"):
        tf.raw_ops.Add(x=1, y=2, z=3)
    with pytest.raises(TypeError, match="y"):
        tf.raw_ops.Add(x=1)


def test_several_results_are_a_named_tuple():
    top = tf.raw_ops.TopKV2(input=[1.0, 3.0], k=1)
    assert top._fields == ("values", "indices")
    assert top.indices.numpy().tolist() == [1]
    assert isinstance(tf.raw_ops.Split(axis=0, value=[1, 2], num_split=2), list)


def test_unknown_names_are_explained():
    with pytest.raises(AttributeError, match=r"Summ.*Did you mean.*Sum"):
        _ = tf.raw_ops.Summ
    assert "Sum" in dir(tf.raw_ops)
    assert len(dir(tf.raw_ops)) >= 440


def test_gradients_and_functions():
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])

    @tf.function
    def f(x):
        y = tf.raw_ops.MatMul(a=x, b=x, transpose_b=True)
        return tf.raw_ops.Sum(input=tf.raw_ops.Relu(features=y), axis=[0, 1])

    with tf.GradientTape() as tape:
        tape.watch(x)
        total = f(x)
    assert total == 4 * 4 + 7 * 7
    assert tape.gradient(total, x).numpy().tolist() == [[8, 14], [8, 14]]


def test_batch_norm_moves_its_moments():
    x = tf.reshape(tf.range(12.0), [1, 2, 2, 3])
    given = {"scale": [1.0] * 3, "offset": [0.0] * 3, "mean": [2.0] * 3, "variance": [1.0] * 3}
    out = tf.raw_ops.FusedBatchNormV3(x=x, **given, exponential_avg_factor=0.5)
    assert out.batch_mean.numpy().tolist() == [3.25, 3.75, 4.25]
    assert out.batch_variance.numpy().tolist() == [8, 8, 8]
    frozen = tf.raw_ops.FusedBatchNormV3(x=x, **given, epsilon=0.0, is_training=False)
    assert frozen.y.numpy().tolist() == (x - 2).numpy().tolist()
