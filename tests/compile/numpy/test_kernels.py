"""Every primitive on every sample: the plan of a single node computes the same as the kernel."""

import numpy as np
import pytest

from gradtape.compile.numpy.engine import PASSES, compile_graph
from tests.compile.numpy.builder import Builder, assert_same, constant
from tests.sweep.registry import primitives, samples

OPS = primitives()
SAMPLES = samples()


def cast(a, dtype):
    """Cast floats to `dtype`, and complex numbers to complex64 for float32."""
    if np.asarray(a).dtype == np.float64:
        return np.asarray(a).astype(dtype)[()]
    if np.asarray(a).dtype == np.complex128 and dtype == "float32":
        return np.asarray(a).astype(np.complex64)[()]
    return a


@pytest.mark.parametrize("name", sorted(set(OPS) & set(SAMPLES)))
def test_a_node_alone(name):
    op = OPS[name]
    for sample in SAMPLES[name]:
        for dtype in sample.dtypes:
            if dtype == "bfloat16":
                import ml_dtypes

                dtype = ml_dtypes.bfloat16
            builder = Builder(*[cast(a, dtype) for a in sample.args])
            try:
                out = builder.apply(op, *builder.inputs, **sample.static)
            except Exception:  # the sample does not support this dtype
                continue
            outs = out if op.outputs else (out,)
            for passes in [(), tuple(PASSES)]:
                run = compile_graph(builder.graph(*outs), passes=passes)
                for _ in range(2):
                    got = run(*builder.wanted(*builder.inputs))
                    for a, b in zip(got, builder.wanted(*outs), strict=True):
                        assert_same(
                            a, b, exact=not passes or op.core_ndim == 0, what=f"{name} {passes}"
                        )


@pytest.mark.parametrize(
    "name", sorted(n for n in set(OPS) & set(SAMPLES) if OPS[n].core_ndim == 0)
)
def test_a_node_on_constants(name):
    op = OPS[name]
    for sample in SAMPLES[name]:
        builder = Builder(sample.args[0])
        rest = [constant(np.asarray(a)[()]) for a in sample.args[1:]]
        out = builder.apply(op, 0, *rest, **sample.static)
        run = compile_graph(builder.graph(out))
        assert_same(run(builder.values[0])[0], builder.values[out], what=name)
