"""In-place updates: which are possible, and that they compute the same as new arrays."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradtape.compile.numpy.engine import compile_graph
from gradtape.compile.numpy.passes import cache_blocking
from gradtape.compile.numpy.passes import in_place_update as stage_pass
from gradtape.graph.graph import Effect, Node
from gradtape.ops import elementwise as e
from gradtape.ops import reduce, shape
from gradtape.ops.linalg.matmul import matmul
from gradtape.state.variable.commit import run_commit_calls
from tests.compile.numpy.builder import Builder, assert_same, constant, interpret
from tests.compile.numpy.programs import programs

rng = np.random.default_rng(4)


def normal(*sizes):
    return rng.normal(size=sizes).astype("float32")


def check(graph, updates, raws, in_place=None):
    """Check that in-place runs equal plain runs, in several calls."""
    plan = compile_graph(graph, updates=updates, passes=EXACT)
    if in_place is not None:
        assert plan.in_place == in_place
    arrays = [np.array(x) if np.ndim(x) else x for x in raws]
    for _ in range(3):
        before = [np.array(a)[()] for a in arrays]
        want = interpret(graph, before)
        if plan.in_place:
            outputs, calls = plan.run_for_commit(*arrays)
            for a, b in zip(arrays, before, strict=True):  # nothing is written before the commit
                np.testing.assert_array_equal(a, b)
            run_commit_calls(calls)
        else:
            outputs = plan(*arrays)
        for k, (got, expected) in enumerate(zip(outputs, want, strict=True)):
            if k in plan.in_place:
                assert got is None
                assert_same(arrays[plan.in_place[k]], expected)
            else:
                assert_same(got, expected)
        for k, j in updates.items():
            if k not in plan.in_place:
                arrays[j] = np.array(outputs[k]) if np.ndim(outputs[k]) else outputs[k]


EXACT = [name for name in compile_graph.__defaults__[1] if name != "product"]


def descent(*sizes):
    """A graph of one step of gradient descent and a loss."""
    builder = Builder(normal(*sizes), normal(*sizes))
    step = builder.apply(e.multiply, constant(0.1), 1)
    new = builder.apply(e.subtract, 0, step)
    loss = builder.apply(reduce.reduce_sum, 0, axis=(-1,), keepdims=False)
    return builder, new, loss


def test_a_step_of_descent_is_done_in_place():
    builder, new, loss = descent(4, 3)
    check(builder.graph(loss, new), {1: 0}, builder.values[:2], {1: 0})


def test_the_plain_form_still_returns_new_arrays():
    builder, new, loss = descent(4, 3)
    plan = compile_graph(builder.graph(loss, new), updates={1: 0})
    assert_same(plan(*builder.values[:2])[1], builder.values[new])


def adam(*sizes):
    builder = Builder(*[normal(*sizes) for _ in range(2)], normal(*sizes) ** 2, normal(*sizes))
    g = 3
    m = builder.apply(
        e.add, 1, builder.apply(e.multiply, builder.apply(e.subtract, g, 1), constant(0.1))
    )
    square = builder.apply(e.multiply, g, g)
    v = builder.apply(
        e.add, 2, builder.apply(e.multiply, builder.apply(e.subtract, square, 2), constant(0.1))
    )
    step = builder.apply(
        e.divide, m, builder.apply(e.add, builder.apply(e.sqrt, v), constant(1e-7))
    )
    w = builder.apply(e.subtract, 0, step)
    return builder, (w, m, v)


def test_operands_of_new_values_are_deferred_too():
    builder, outs = adam(4, 3)
    updates = {0: 0, 1: 1, 2: 2}
    check(builder.graph(*outs), updates, builder.values[:4], updates)


@pytest.mark.parametrize("sizes", [(6, 7), (5,)])
def test_large_updates_run_in_blocks(sizes, monkeypatch):
    monkeypatch.setattr(cache_blocking, "MIN_BLOCKED_ELEMENTS", 4)
    monkeypatch.setattr(cache_blocking, "BLOCK_ELEMENTS", 3)
    monkeypatch.setattr(stage_pass, "MIN_DEFERRED_ELEMENTS", 4)
    builder, outs = adam(*sizes)
    updates = {0: 0, 1: 1, 2: 2}
    check(builder.graph(*outs), updates, builder.values[:4], updates)


def test_a_new_value_that_is_also_returned_is_not_updated_in_place():
    builder, new, _ = descent(3)
    check(builder.graph(new, new), {1: 0}, builder.values[:2], {})


def test_an_old_value_that_is_returned_is_not_overwritten():
    builder, new, _ = descent(3, 3)
    view = builder.apply(shape.swap, 0)
    check(builder.graph(view, new), {1: 0}, builder.values[:2], {})


def test_variables_that_are_exchanged_are_not_overwritten():
    builder = Builder(normal(3), normal(3))
    check(builder.graph(1, 0), {0: 0, 1: 1}, builder.values[:2], {})


def test_an_update_that_reads_a_variable_overwritten_by_another():
    builder = Builder(normal(3), normal(3))
    a = builder.apply(e.subtract, 0, 1)
    b = builder.apply(e.subtract, 1, 0)
    check(builder.graph(a, b), {0: 0, 1: 1}, builder.values[:2], {1: 1})


def test_an_update_from_its_own_transpose(monkeypatch):
    monkeypatch.setattr(cache_blocking, "MIN_BLOCKED_ELEMENTS", 4)
    monkeypatch.setattr(cache_blocking, "BLOCK_ELEMENTS", 3)
    builder = Builder(normal(4, 4))
    turned = builder.apply(e.exp, builder.apply(shape.swap, 0))
    new = builder.apply(e.subtract, 0, builder.apply(e.tanh, turned))
    check(builder.graph(new), {0: 0}, builder.values[:1])


def test_a_new_value_that_a_product_reads_is_not_deferred():
    builder, new, _ = descent(3, 3)
    out = builder.apply(matmul, new, new)
    check(builder.graph(out, new), {1: 0}, builder.values[:2], {})


def test_arguments_of_an_effect_are_not_overwritten():
    seen = []
    builder, new, loss = descent(3)
    graph = builder.graph(loss, new)
    graph.nodes.append(Node(Effect("note", lambda x: seen.append(x) or ()), (0,), {}, ()))
    assert compile_graph(graph, updates={1: 0}).in_place == {}
    graph.nodes[-1] = Node(Effect("note", lambda x: seen.append(x) or ()), (loss,), {}, ())
    plan = compile_graph(graph, updates={1: 0})
    assert plan.in_place == {1: 0}
    _, calls = plan.run_for_commit(*[x.copy() for x in builder.values[:2]])
    run_commit_calls(calls)
    assert len(seen) == 1


def test_scalars_are_returned():
    builder = Builder(np.float32(3))
    out = builder.apply(e.add, 0, constant(1.0))
    check(builder.graph(out), {0: 0}, builder.values[:1], {})


@given(program=programs(steps=20), data=st.data(), small=st.booleans())
@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_random_updates(program, data, small, monkeypatch):
    monkeypatch.setattr(cache_blocking, "MIN_BLOCKED_ELEMENTS", 4 if small else 1 << 16)
    monkeypatch.setattr(cache_blocking, "BLOCK_ELEMENTS", 3 if small else 1 << 15)
    monkeypatch.setattr(cache_blocking, "BLOCKED_REDUCTIONS", set())
    monkeypatch.setattr(stage_pass, "MIN_DEFERRED_ELEMENTS", 4 if small else 1 << 16)
    builder, outputs = program
    alike = {}
    for j in builder.inputs:
        old = builder.values[j]
        same = [
            i
            for i, v in enumerate(builder.values)
            if np.shape(v) == np.shape(old) and np.asarray(v).dtype == np.asarray(old).dtype
        ]
        alike[j] = data.draw(st.sampled_from(same))
    updates = {len(outputs) + k: j for k, j in enumerate(alike)}
    graph = builder.graph(*outputs, *alike.values())
    check(graph, updates, builder.values[: len(builder.inputs)])
