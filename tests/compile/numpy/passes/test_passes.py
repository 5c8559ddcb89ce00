"""Passes on random graphs: each alone, and all together, compute the same as the kernels."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradtape.compile.numpy.engine import PASSES, compile_graph
from gradtape.compile.numpy.passes import cache_blocking
from gradtape.ops.elementwise import multiply, tanh
from gradtape.ops.linalg.matmul import matmul
from gradtape.ops.shape import swap
from tests.compile.numpy.builder import Builder, assert_same, constant, interpret, raw_input
from tests.compile.numpy.programs import programs

relaxed = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
EXACT = [name for name in PASSES if name != "product"]  # it changes the order of summation


def other_values(raws):
    """Inputs of the same shapes and dtypes with other values."""
    return [
        raw_input(
            np.flip(np.asarray(x)) if np.ndim(x) else np.negative(x) if x.dtype.kind != "b" else ~x
        )
        for x in raws
    ]


def check(program, passes, exact=True):
    builder, outputs = program
    graph = builder.graph(*outputs)
    plan = compile_graph(graph, passes=passes)
    first = builder.wanted(*builder.inputs)
    other = other_values(first)
    kept = []
    for raws in (first, other, first):
        got, want = plan(*raws), interpret(graph, raws)
        kept.append((got, want))
        assert len(got) == len(want)
    for got, want in kept:  # later calls must not change earlier results
        for a, b in zip(got, want, strict=True):
            assert_same(a, b, exact, f"{graph.pretty()}\n{plan.pretty()}")


@given(program=programs())
@relaxed
def test_recording_kernels_changes_no_bit(program):
    check(program, ())


@pytest.mark.parametrize("name", EXACT)
@given(program=programs())
@relaxed
def test_a_pass_alone_changes_no_bit(name, program):
    check(program, (name,))


@given(program=programs(steps=25))
@relaxed
def test_all_passes_together_change_no_bit(program):
    check(program, EXACT)


@given(program=programs(dtypes=("float32", "float64")))
@relaxed
def test_sums_as_products_change_rounding_only(program):
    builder, outputs = program
    good = [o for o in outputs if is_tame(builder.values[o])]
    if good and all(is_tame(v) for v in builder.values):
        check((builder, good), tuple(PASSES), exact=False)


def is_tame(value):
    """Whether rounding errors stay small: all elements are finite and of moderate size."""
    value = np.asarray(value)
    if value.dtype.kind in "ib":
        return False  # rounding may flip a comparison
    return bool(np.all(np.isfinite(value))) and bool(np.all(np.abs(value) < 100))


@pytest.mark.parametrize("sizes", [(2, 4), (8, 5), (4, 4)])
@given(program=programs(steps=25), chosen=st.sampled_from([EXACT, ("block",), ("block", "buffer")]))
@relaxed
def test_small_blocks_change_no_bit(sizes, program, chosen, monkeypatch):
    monkeypatch.setattr(cache_blocking, "MIN_BLOCKED_ELEMENTS", sizes[0])
    monkeypatch.setattr(cache_blocking, "BLOCK_ELEMENTS", sizes[1])
    monkeypatch.setattr(cache_blocking, "BLOCKED_REDUCTIONS", {np.maximum, np.minimum})
    check(program, chosen)


def test_exchanging_axes_twice_and_a_product_by_equal_constants_leave_one_call():
    builder = Builder(np.ones((2, 3), "float32"))
    back = builder.apply(swap, builder.apply(swap, 0))
    once = builder.apply(multiply, constant(np.array(3.0, "float32")), back)
    again = builder.apply(multiply, constant(np.array(3.0, "float32")), 0)
    plan = compile_graph(builder.graph(builder.apply(multiply, once, again)))
    assert [call.name for call in plan.final_program.calls] == ["multiply", "multiply"]


@pytest.mark.parametrize("rows", [[0, 1, 2], [2, 0, 2, 1], [1]])
def test_a_product_by_rows_of_an_identity_chooses_rows(rows):
    chosen = constant(np.eye(3, dtype="float32")[rows])
    x = np.arange(12, dtype="float32").reshape(3, 4)
    builder = Builder(x)
    plan = compile_graph(builder.graph(builder.apply(matmul, chosen, builder.apply(tanh, 0))))
    assert "dot" not in [call.name for call in plan.final_program.calls]
    np.testing.assert_array_equal(plan(x)[0], np.tanh(x)[rows])


@pytest.mark.parametrize("matrix", [[[1, 1, 0]], [[0, 0, 0]], [[0, 2, 0]], [[1, 1, 0], [0, 0, 0]]])
def test_other_products_with_a_constant_stay(matrix):
    builder = Builder(np.ones((3, 4), "float32"))
    product = builder.apply(matmul, constant(np.array(matrix, "float32")), 0)
    plan = compile_graph(builder.graph(product))
    assert [call.name for call in plan.final_program.calls] == ["dot"]
    np.testing.assert_array_equal(plan(np.ones((3, 4), "float32"))[0], matrix @ np.ones((3, 4)))
