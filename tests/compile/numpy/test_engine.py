"""The numpy engine: results of plans, ownership of arrays, errors, effects and threads."""

import gc
import threading
import warnings
import weakref

import numpy as np
import pytest

from gradtape.compile.numpy.engine import PASSES, compile_graph
from gradtape.compile.numpy.passes import cache_blocking
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.primitive import Spec
from gradtape.graph.graph import Effect, Graph, Node
from gradtape.ops import elementwise as e
from gradtape.ops import reduce, shape
from gradtape.ops.gather_scatter import gather
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.nn.softmax import softmax, sparse_cross_entropy, subtract_one_hot
from tests.compile.numpy.builder import Builder, assert_same, constant, interpret

rng = np.random.default_rng(3)


def normal(*sizes, dtype="float32"):
    return rng.normal(size=sizes).astype(dtype)


def kinds(plan):
    return [call.kind for call in plan.final_program.calls]


# -- recorded kernels and passes -------------------------------------------------------------------


def test_a_number_in_front_of_a_power_keeps_its_sign():
    builder = Builder(np.float32(2))
    out = builder.apply(e.power, constant(-0.5), 0)
    assert compile_graph(builder.graph(out))(np.float32(2))[0] == np.float32(0.25)


def test_a_kernel_that_reads_values_stays_opaque():
    builder = Builder(normal(5, 3), np.array([4, 0], np.int32))
    plan = compile_graph(builder.graph(builder.apply(gather, 0, 1, axis=-2)))
    assert kinds(plan) == ["opaque"]


def test_the_same_expression_of_two_primitives_is_computed_once():
    builder = Builder(normal(3, 4))
    a, b = builder.apply(e.relu, 0), builder.apply(e.relu, 0)
    out = builder.apply(e.add, a, b)
    assert kinds(compile_graph(builder.graph(out))).count("ufunc") == 2


def test_unused_values_are_not_computed():
    builder = Builder(normal(3))
    builder.apply(e.exp, 0)
    out = builder.apply(e.tanh, 0)
    assert len(compile_graph(builder.graph(out)).final_program.calls) == 1


def test_constants_are_folded():
    builder = Builder(normal(3))
    two = builder.apply(e.add, constant(np.float32(1)), constant(np.float32(1)))
    out = builder.apply(e.multiply, 0, two)
    plan = compile_graph(builder.graph(out))
    assert len(plan.final_program.calls) == 1
    assert_same(plan(builder.values[0])[0], builder.values[out])


def test_constants_that_are_not_folded_are_operands_like_any():
    held = constant(normal(3))
    builder = Builder(normal(3))
    wide = builder.apply(e.cast, held, dtype=np.dtype("float64"))
    narrow = builder.apply(e.cast, builder.apply(e.exp, wide), dtype=np.dtype("float32"))
    out = builder.apply(
        e.multiply, builder.apply(shape.slice_, narrow, key=(slice(0, 3),), rank=1), 0
    )
    for passes in [("buffer",), ("block", "buffer"), ("common", "buffer")]:
        plan = compile_graph(builder.graph(out), passes=passes)
        assert_same(plan(builder.values[0])[0], builder.values[out])


def test_a_factor_of_one_is_left_out_and_signs_of_zero_stay():
    builder = Builder(np.array([-0.0, 0.0, np.nan, np.inf], np.float32))
    out = builder.apply(e.add, builder.apply(e.multiply, 0, constant(1.0)), constant(0.0))
    plan = compile_graph(builder.graph(out))
    assert len(plan.final_program.calls) == 1
    assert_same(plan(builder.values[0])[0], builder.values[out])


def test_a_broadcast_cotangent_is_never_materialized():
    builder = Builder(normal(3, 4), np.float32(2))
    wide = builder.apply(reduce.spread, 1, axis=(-2, -1), keepdims=False, shape=(3, 4))
    out = builder.apply(e.multiply, wide, 0)
    plan = compile_graph(builder.graph(out))
    assert kinds(plan) == ["ufunc"]
    assert_same(plan(*builder.values[:2])[0], builder.values[out])


def test_views_of_buffers_are_made_once():
    builder = Builder(normal(3, 4))
    turned = builder.apply(shape.swap, builder.apply(e.exp, 0))
    out = builder.apply(matmul, turned, 0)
    plan = compile_graph(builder.graph(out))
    assert kinds(plan) == ["ufunc", "product"]
    assert "once: " in plan.pretty()
    assert_same(plan(builder.values[0])[0], builder.values[out])


def test_a_loss_and_its_gradient_look_labels_up_once():
    builder = Builder(normal(6, 3), np.array([0, 2, 1, 1, 0, 2], np.int32))
    p = builder.apply(softmax, 0, axis=-1)
    outs = builder.apply(sparse_cross_entropy, 0, 1, p), builder.apply(subtract_one_hot, p, 1)
    plan = compile_graph(builder.graph(*outs))
    assert plan.pretty().count("label_places") == 1
    for got, out in zip(plan(*builder.values[:2]), outs, strict=True):
        assert_same(got, builder.values[out], exact=False)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_probabilities_that_underflow_have_a_finite_loss(dtype):
    logits = np.array([[0.0, 500.0], [1.0, 2.0]], np.float32)
    builder = Builder(logits, np.array([0, 1], dtype))
    out = builder.apply(sparse_cross_entropy, 0, 1, builder.apply(softmax, 0, axis=-1))
    got = compile_graph(builder.graph(out))(*builder.values[:2])[0]
    assert_same(got, builder.values[out], exact=False)
    assert got[0] == 500


# -- arrays ----------------------------------------------------------------------------------------


def test_results_never_change_and_inputs_are_not_written():
    builder = Builder(normal(4, 4), normal(4))
    h = builder.apply(e.tanh, builder.apply(e.add, 0, 1))
    outs = h, builder.apply(shape.swap, h), builder.apply(e.exp, h)
    plan = compile_graph(builder.graph(*outs))
    first = plan(*builder.values[:2])  # the inputs are read-only
    copies = [x.copy() for x in first]
    plan(builder.values[0] + 1, builder.values[1])
    for a, b in zip(first, copies, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("layout", ["F", "reversed", "strided", "repeated"])
def test_inputs_of_any_layout(layout, monkeypatch):
    monkeypatch.setattr(cache_blocking, "MIN_BLOCKED_ELEMENTS", 4)
    monkeypatch.setattr(cache_blocking, "BLOCK_ELEMENTS", 5)
    x = normal(6, 4)
    x = {
        "F": np.asfortranarray(x),
        "reversed": x[::-1, ::-1],
        "strided": normal(12, 8)[::2, ::2],
        "repeated": np.broadcast_to(x[:1], (6, 4)),
    }[layout]
    builder = Builder(x)
    y = builder.apply(e.sigmoid, builder.apply(e.add, 0, constant(normal(4))))
    out = builder.apply(
        reduce.reduce_sum, builder.apply(e.multiply, y, 0), axis=(-2,), keepdims=False
    )
    graph = builder.graph(y, out)
    for a, b in zip(compile_graph(graph)(x), interpret(graph, [x]), strict=True):
        assert_same(a, b, exact=False)


def test_large_chains_run_in_blocks():
    builder = Builder(normal(300, 500), normal(500))
    y = builder.apply(e.tanh, builder.apply(e.add, 0, 1))
    z = builder.apply(e.multiply, y, builder.apply(e.subtract, constant(1), y))
    plan = compile_graph(builder.graph(z))
    assert kinds(plan) == ["blocks"]
    assert_same(plan(*builder.values[:2])[0], builder.values[z])


def test_sums_over_blocks_are_as_exact_as_sums():
    x = normal(1000, 300)
    builder = Builder(x)
    total = builder.apply(
        reduce.reduce_sum,
        builder.apply(e.exp, builder.apply(e.negative, 0)),
        axis=(-2, -1),
        keepdims=False,
    )
    plan = compile_graph(builder.graph(total))
    assert kinds(plan) == ["blocks"]
    np.testing.assert_allclose(plan(x)[0], np.exp(-x.astype("float64")).sum(), rtol=1e-6)


def test_scalars_stay_numpy_scalars():
    builder = Builder(np.float32(3), np.float32(4))
    out = builder.apply(
        e.sqrt, builder.apply(e.add, builder.apply(e.square, 0), builder.apply(e.square, 1))
    )
    (got,) = compile_graph(builder.graph(out))(np.float32(3), np.float32(4))
    assert type(got) is np.float32
    assert got == 5


def test_strings_run_through_their_kernel():
    builder = Builder(np.array([b"a", b"b"], object), np.array([b"c", b"d"], object))
    out = builder.apply(e.join_strings, 0, 1)
    assert_same(compile_graph(builder.graph(out))(*builder.values[:2])[0], builder.values[out])


def test_inputs_and_constants_may_be_returned():
    x = normal(3)
    builder = Builder(x)
    held = constant(normal(2))
    got = compile_graph(builder.graph(0, held, 0))(x)
    assert got[0] is x
    assert got[2] is x
    assert got[1] is held.raw


def test_an_empty_graph_returns_an_empty_tuple():
    assert compile_graph(Graph([], [], [], {}))() == ()


# -- failures, warnings, effects, threads ----------------------------------------------------------


@pytest.mark.parametrize("passes", [(), tuple(PASSES)])
def test_kernels_fail_with_tensorflows_errors(passes):
    builder = Builder(normal(5, 3), np.array([4, 0], np.int32))
    out = builder.apply(gather, builder.apply(e.exp, 0), 1, axis=-2)
    plan = compile_graph(builder.graph(out), passes=passes)
    with pytest.raises(InvalidArgumentError, match="gather"):
        plan(builder.values[0], np.array([9, 0], np.int32))
    assert_same(plan(*builder.values[:2])[0], builder.values[out])


@pytest.mark.parametrize("bad", [3, -1])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_labels_are_checked(bad, dtype):
    builder = Builder(normal(2, 3), np.array([0, 2], dtype))
    p = builder.apply(softmax, 0, axis=-1)
    outs = builder.apply(sparse_cross_entropy, 0, 1, p), builder.apply(subtract_one_hot, p, 1)
    plan = compile_graph(builder.graph(*outs))
    with pytest.raises(InvalidArgumentError, match=f"label value of {bad}"):
        plan(builder.values[0], np.array([0, bad], dtype))


def test_division_by_zero_is_silent():
    builder = Builder(np.zeros(3, np.float32), np.float32(0))
    outs = builder.apply(e.divide, 0, 0), builder.apply(e.divide, 1, 1), builder.apply(e.log, 0)
    plan = compile_graph(builder.graph(*outs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = plan(*builder.values[:2])
    assert np.isnan(got[0]).all()
    assert np.isnan(got[1])


def test_numpy_warns_as_before_after_a_call_and_after_a_failure():
    builder = Builder(normal(5, 3), np.array([4, 0], np.int32))
    plan = compile_graph(builder.graph(builder.apply(gather, builder.apply(e.exp, 0), 1, axis=-2)))
    with np.errstate(divide="raise", over="call"):
        state = np.geterr()
        plan(*builder.values[:2])
        assert np.geterr() == state
        with pytest.raises(InvalidArgumentError):
            plan(builder.values[0], np.array([9, 0], np.int32))
        assert np.geterr() == state


def test_effects_run_once_and_in_order_and_their_arguments_never_change():
    seen = []

    def note(x):
        seen.append(x)
        return ()

    builder = Builder(normal(3))
    a = builder.apply(e.exp, 0)
    b = builder.apply(e.tanh, a)
    graph = builder.graph(b)
    graph.nodes[1:1] = [Node(Effect("first", note), (a,), {}, ())]
    graph.nodes.append(Node(Effect("second", note), (b,), {}, ()))
    plan = compile_graph(graph)
    plan(builder.values[0])
    plan(builder.values[0] + 1)
    assert len(seen) == 4
    np.testing.assert_array_equal(seen[0], builder.values[a])
    np.testing.assert_array_equal(seen[1], builder.values[b])


def test_effects_keep_their_order_around_blocks():
    order = []
    builder = Builder(normal(70_000))
    a = builder.apply(e.exp, 0)
    b = builder.apply(e.tanh, a)
    graph = builder.graph(b)

    def noting(name):
        return Effect(name, lambda x: order.append(name) or ())

    graph.nodes[1:1] = [Node(noting("reads the chain"), (a,), {}, ())]
    graph.nodes[2:2] = [Node(noting("reads the input"), (0,), {}, ())]
    graph.nodes.append(Node(noting("reads the end"), (b,), {}, ()))
    assert_same(compile_graph(graph)(builder.values[0])[0], builder.values[b])
    assert order == ["reads the chain", "reads the input", "reads the end"]


def test_a_deleted_plan_frees_its_buffers_at_once():
    builder = Builder(normal(50))
    plan = compile_graph(builder.graph(builder.apply(e.exp, builder.apply(e.tanh, 0))))
    plan(builder.values[0])
    (kept,) = plan.final_program.buffers.values()
    buffer = weakref.ref(kept)
    del kept
    gc.disable()
    try:
        del plan
        assert buffer() is None
    finally:
        gc.enable()


def test_results_of_effects_are_values():
    spec = Spec(((3,), np.dtype("float32")))
    double = Effect("double", lambda x: (x * 2,))
    nodes = [Node(double, (0,), {}, (1,)), Node(e.negative.op, (1,), {}, (2,))]
    plan = compile_graph(Graph([0], nodes, [2], dict.fromkeys(range(3), spec)))
    np.testing.assert_array_equal(plan(np.ones(3, np.float32))[0], [-2, -2, -2])


def test_a_plan_may_be_called_while_it_runs():
    builder = Builder(normal(50))
    a = builder.apply(e.exp, 0)
    out = builder.apply(e.add, builder.apply(e.tanh, a), a)
    graph = builder.graph(out)
    inner = []

    def call_back(x):
        if not inner:
            inner.append(None)
            inner.append(plan(x + 1)[0])
        return ()

    graph.nodes[1:1] = [Node(Effect("call back", call_back), (0,), {}, ())]
    plan = compile_graph(graph)
    (got,) = plan(builder.values[0])
    assert_same(got, builder.values[out])
    graph.nodes.pop(1)
    assert_same(inner[1], interpret(graph, [builder.values[0] + 1])[0])


def test_two_threads_get_the_results_of_one():
    builder = Builder(normal(64, 64))
    h = 0
    for _ in range(6):
        h = builder.apply(e.tanh, builder.apply(matmul, h, 0))
    plan = compile_graph(builder.graph(h))
    inputs = [normal(64, 64) for _ in range(4)]
    wanted = [plan(x)[0] for x in inputs]
    wrong = []

    def work(k):
        for _ in range(100):
            if not np.array_equal(plan(inputs[k])[0], wanted[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_the_plan_prints_its_calls():
    builder = Builder(normal(2, 3))
    out = builder.apply(e.exp, builder.apply(e.add, 0, constant(1.0)))
    text = compile_graph(builder.graph(out)).pretty()
    assert text.splitlines() == [
        "inputs: v0:float32[2, 3]",
        "  v1:float32[2, 3] = add(v0, array(1., dtype=float32))",
        "  v2:float32[2, 3] = exp(v1)",
        "return v2",
    ]
