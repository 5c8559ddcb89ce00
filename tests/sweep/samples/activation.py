"""Samples for `ops/nn/activation.py`."""

from gradtape.ops.elementwise import square, tanh
from tests.sweep.sample import Sample, nonzero, normal

SHAPE = (2, 3)
BOUND = {1: lambda x, value, slope: tanh(x), 2: lambda x, value, slope: 1 - square(tanh(x))}


def sample_with_slope(x):
    """A sample of `with_slope` whose value and slope follow `x`."""
    return Sample((x, *(make(x, x, x) for make in BOUND.values())), bound=BOUND)


SAMPLES = {
    "relu6": [Sample((nonzero(SHAPE),)), Sample((nonzero(SHAPE) * 4,))],
    "leaky_relu": [Sample((nonzero(SHAPE),), {"alpha": a}) for a in (0.25, 0.0, 1.0, 2.5, -0.5)],
    "leaky_relu_slope": [
        Sample((nonzero(SHAPE),), {"alpha": a}) for a in (0.25, 0.0, 1.0, 2.5, -0.5)
    ],
    "elu": [Sample((nonzero(SHAPE),))],
    "selu": [Sample((nonzero(SHAPE),))],
    "with_slope": [sample_with_slope(normal(SHAPE)), sample_with_slope(normal(0, 3))],
    **{
        name: [Sample((normal(SHAPE),)), Sample((normal(0, 3),)), Sample((normal(()),))]
        for name in ("silu_and_slope", "tanh_gelu_and_slope", "gelu_and_slope")
    },
}
