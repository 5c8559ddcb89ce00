"""Names that become part of generated source."""

import builtins
from unittest import mock

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy.engine import compile_graph
from gradtape.core.errors import InternalError
from gradtape.core.generated_code import REFERENCE
from gradtape.core.identifier import check_identifier
from gradtape.core.primitive import Primitive, Spec
from gradtape.graph.graph import Graph, Node
from gradtape.graph.trace_op import make_trace_op

TEXT = "a=open('proof', 'w'),b"


def read_value(x, **static):
    """A kernel that reads a value, which the planner therefore calls as a whole."""
    return x if float(x[0]) > 0 else -x


OPAQUE = make_trace_op(read_value)


def graph_of(op, /, **static):
    """A graph with one node."""
    spec = Spec(((2,), np.dtype("float32")))
    return Graph([0], [Node(op, (0,), static, (1,))], [1], {0: spec, 1: spec})


@pytest.mark.parametrize("name", [TEXT, "", "1a", "a b", "a.b", "class", "a\n", None, 3])
def test_only_identifiers_are_names(name):
    assert check_identifier("reshape_1") == "reshape_1"
    with pytest.raises(InternalError, match="must be an identifier"):
        check_identifier(name)


def test_a_plan_checks_the_names_of_keywords():
    plan = compile_graph(graph_of(OPAQUE, **{TEXT: 1}))
    with pytest.raises(InternalError, match="must be an identifier"):
        plan(np.ones(2, np.float32))


def test_text_in_an_attribute_is_no_part_of_the_source():
    sources = []
    compiled = builtins.compile

    def listen(source, *args, **kwargs):
        sources.append(source)
        return compiled(source, *args, **kwargs)

    with mock.patch("builtins.compile", listen):
        (result,) = compile_graph(graph_of(OPAQUE, label=TEXT))(np.ones(2, np.float32))
    np.testing.assert_array_equal(result, [1, 1])
    assert any("read_value" in str(source) for source in sources)
    assert not any("proof" in str(source) for source in sources)


@pytest.mark.skipif(REFERENCE, reason="there are no generated functions")
def test_generated_functions_check_the_name_of_the_op():
    def kernel(x):
        return x

    kernel.__name__ = TEXT
    from gradtape.core.fastpath.codegen import make_primitive_function

    function = make_primitive_function(Primitive(kernel, {"x": None}, 0, False))
    with pytest.raises(InternalError, match="must be an identifier"):
        function(tf.constant([1.0]))
