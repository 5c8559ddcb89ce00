"""Rewrites of a graph before lowering: the same bits, from smaller arrays."""

import numpy as np
import pytest

from gradtape.compile.numpy.engine import compile_graph
from gradtape.compile.numpy.graph_rewrite import gate_before_unpooling
from gradtape.ops import elementwise as e
from gradtape.ops.convolution.window import Window
from gradtape.ops.nn.pool import max_pool, max_unpool
from tests.compile.numpy.builder import Builder, assert_same

WINDOWS = {
    "disjoint": Window((2, 2), (2, 2), (1, 1), ((0, 0), (0, 0))),
    "overlapping and padded": Window((3, 3), (2, 2), (1, 1), ((1, 1), (1, 1))),
}
rng = np.random.default_rng(5)


def make_builder(window, dtype="float32", special=()):
    """Relu, its maximum pool, and the gradient of both for a random cotangent."""
    x = rng.integers(-3, 4, (2, 6, 6, 3)).astype(dtype)  # with ties
    x.ravel()[: len(special)] = special
    outputs = window.outputs((6, 6))
    builder = Builder(x, rng.normal(size=(2, *outputs, 3)).astype(dtype))
    static = {"window": window, "every": False}
    y = builder.apply(e.relu, 0)
    peak = builder.apply(max_pool, y, **static)
    spread = builder.apply(max_unpool, 1, y, peak, **static)
    return builder, y, peak, spread


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("special", [(), (np.nan, np.inf, -np.inf, -0.0)], ids=["", "special"])
def test_the_gate_moves_before_the_pool_and_no_bit_changes(window, dtype, special):
    builder, y, _, spread = make_builder(window, dtype, special)
    graph = builder.graph(builder.apply(e.where_positive, spread, y))
    names = [node.op.name for node in gate_before_unpooling(graph).nodes]
    assert names[-2:] == ["where_positive", "max_unpool"]
    assert names.count("max_unpool") == 1
    assert_same(compile_graph(graph)(*builder.values[:2])[0], builder.values[graph.outputs[0]])


def test_a_gate_by_another_value_stays():
    builder, _, _, spread = make_builder(WINDOWS["disjoint"])
    graph = builder.graph(builder.apply(e.where_positive, spread, 0))
    assert gate_before_unpooling(graph) is graph


def test_a_cotangent_with_another_reader_stays():
    builder, y, _, spread = make_builder(WINDOWS["disjoint"])
    out = builder.apply(e.where_positive, spread, y)
    graph = builder.graph(out, builder.apply(e.exp, spread))
    assert gate_before_unpooling(graph) is graph
    graph = builder.graph(out, spread)
    assert gate_before_unpooling(graph) is graph
