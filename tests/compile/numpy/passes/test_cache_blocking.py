"""Cache blocking: which calls join a chain, and which values it keeps for later."""

import numpy as np

import gradtape
import gradtape as tf
from gradtape.compile.numpy.engine import compile_graph
from gradtape.compile.numpy.passes.cache_blocking import group_connected_calls
from gradtape.compile.numpy.program import NumpyCall
from gradtape.ops.elementwise import multiply, relu, subtract, tanh, where_positive
from gradtape.ops.linalg.matmul import matmul
from tests.compile.numpy.builder import Builder, constant

SIDE = 300  # SIDE² elements are enough for blocks
rng = np.random.default_rng(2)


def square():
    return rng.normal(size=(SIDE, SIDE)).astype("float32")


def block_results(program):
    """Dtypes of the values that blocks compute for other calls, chain by chain."""
    return [
        [program.specs[o].dtype.name for o in call.outs]
        for call in program.calls
        if call.kind == "blocks"
    ]


def layer(activate, differentiate):
    """A graph: an activation of a scaled input, a product, and the gradient of the activation."""
    b = Builder(square(), square(), square())
    y = b.apply(activate, b.apply(multiply, 0, 0))
    z = b.apply(matmul, y, 1)
    g = b.apply(matmul, z, 2)
    return b, (z, differentiate(b, g, y), b.apply(matmul, y, g))


def check(builder, outputs):
    plan = compile_graph(builder.graph(*outputs))
    for got, want in zip(plan(*builder.values[:3]), builder.wanted(*outputs), strict=True):
        np.testing.assert_array_equal(got, want)
    return plan.final_program


def test_the_mask_of_a_relu_is_computed_where_the_backward_pass_needs_it():
    program = check(*layer(relu, lambda b, g, y: b.apply(where_positive, g, y)))
    assert block_results(program) == [["float32"], ["int32"]]


def test_a_slope_that_reads_only_kept_values_is_computed_later():
    def slope(b, g, y):
        one = constant(np.float32(1))
        return b.apply(multiply, g, b.apply(subtract, one, b.apply(multiply, y, y)))

    assert block_results(check(*layer(tanh, slope))) == [["float32"], ["float32"]]


def test_a_slope_of_values_that_the_chain_drops_stays_in_the_chain():
    b = Builder(square(), square(), square())
    inner = b.apply(multiply, 0, 0)
    y = b.apply(multiply, b.apply(tanh, inner), 0)
    z = b.apply(matmul, y, 1)
    slope = b.apply(multiply, b.apply(tanh, inner), inner)
    program = check(b, (z, b.apply(matmul, slope, z)))
    assert block_results(program) == [["float32", "float32"]]


def test_groups_are_connected_by_results():
    def call(out, *reads):
        return NumpyCall("ufunc", np.add, reads, (out,))

    calls = {3: call(10, 1), 5: call(11, 1), 6: call(12, 10, 1), 9: call(13, 11, 12), 12: call(14)}
    assert [sorted(group) for group in group_connected_calls(calls)] == [[3, 5, 6, 9], [12]]


def test_a_training_step_keeps_no_masks():
    batch, layers = 2048, 6
    weights = [tf.Variable(rng.normal(size=(64, 64)).astype("float32")) for _ in range(layers)]

    @tf.function(jit_compile=False)
    def step(x):
        with tf.GradientTape() as tape:
            for w in weights:
                x = tf.nn.relu(x @ w)
            loss = tf.reduce_sum(x)
        return tape.gradient(loss, weights)

    x = tf.constant(rng.normal(size=(batch, 64)).astype("float32"))
    first = step(x)
    for a, b in zip(first, step(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    (memory,) = gradtape.debug.plan_memory(step)
    assert memory.arena <= (layers + 2) * batch * 64 * 4  # results of the layers, and two more
