"""Public functions on both libraries: each line of expressions.txt gives the same outcome.

Values, dtypes and shapes are compared, and the classes of errors. To look for differences, add
lines: a call, or `grad(tf, function, *args)` for a result with its gradients.
"""

from pathlib import Path

import numpy as np
import pytest
import tensorflow

import gradtape
from tests.parity.differential import explain_difference, outcome

EXPRESSIONS = Path(__file__).with_name("expressions.txt").read_text().splitlines()
X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32) * 4


def grad(tf, function, *args):
    """The result of a function, and its gradients."""
    args = [tf.constant(arg) for arg in args]
    with tf.GradientTape() as tape:
        tape.watch(args)
        out = function(*args)
    return [out, *tape.gradient(out, args)]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_both_libraries_agree(expression):
    names = {"X": X, "grad": grad}
    theirs, ours = (outcome(expression, library, names) for library in (tensorflow, gradtape))
    assert explain_difference(ours, theirs) is None
