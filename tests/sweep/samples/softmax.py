"""Samples for `ops/nn/softmax.py`."""

from gradtape.ops.nn.softmax import softmax
from tests.sweep.sample import Sample, integers, normal, unit

# The softmax of the logits is an input without a rule; it follows the logits.
BOUND = {2: lambda logits, labels, p: softmax(logits, axis=-1)}


def probabilities(*shape):
    """Rows that sum to one."""
    x = unit(*shape)
    return x / x.sum(axis=-1, keepdims=True)


LOGITS = normal(2, 4)
EMPTY = normal(0, 4)

SAMPLES = {
    "softmax": [
        Sample((normal(2, 3),), {"axis": -1}),
        Sample((normal(2, 3, 2),), {"axis": -2}),
        Sample((normal(2, 128),), {"axis": -1}),
        Sample((normal(0, 3),), {"axis": -1}),
    ],
    "multiply_softmax_jacobian": [
        Sample((normal(2, 3), probabilities(2, 3)), {"axis": -1}),
        Sample((normal(2, 3, 2), probabilities(2, 3, 2)), {"axis": -2}),
        Sample((normal(2, 128), probabilities(2, 128)), {"axis": -1}),
        Sample((normal(0, 3), normal(0, 3)), {"axis": -1}),
    ],
    "log_softmax": [
        Sample((normal(2, 3),), {"axis": -1}),
        Sample((normal(2, 3, 2),), {"axis": -2}),
        Sample((normal(0, 3),), {"axis": -1}),
    ],
    "cross_entropy": [
        Sample((LOGITS, probabilities(2, 4), softmax(LOGITS, axis=-1)), bound=BOUND),
        Sample((EMPTY, EMPTY, EMPTY), bound=BOUND),
    ],
    "sparse_cross_entropy": [
        Sample((LOGITS, integers(0, 4, 2), softmax(LOGITS, axis=-1)), bound=BOUND),
        Sample((EMPTY, integers(0, 4, 0), EMPTY), bound=BOUND),
    ],
    "subtract_one_hot": [
        Sample((probabilities(2, 4), integers(0, 4, 2))),
        Sample((EMPTY, integers(0, 4, 0))),
    ],
    "sigmoid_cross_entropy": [Sample((normal(2, 3), unit(2, 3)))],
}
