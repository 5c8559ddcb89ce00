"""Decompositions and solvers of singular matrices and of matrices with infinity or NaN."""

import numpy as np
from checking import Raises, check, end

import gradtape as tf

nan, inf = float("nan"), float("inf")
middle = [[1.0, 2, 3], [4, nan, 6], [7, 8, 10]]


def has_only_nan(x):
    return bool(np.isnan(x).all())


def weighted_upper_factor(x):
    weight = tf.constant([[1j, 2 - 1j], [0, 1 + 1j]])
    return tf.reduce_sum(tf.math.real(tf.math.conj(weight) * tf.linalg.qr(x)[1]))


def error_of_qr_gradient(rows):
    a = np.array([[1 + 2j, 3 - 1j], [2 - 1j, 1 + 1j], [1j, 1 - 1j]])[:rows]
    x = tf.constant(a)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = weighted_upper_factor(x)
    gradient = tape.gradient(y, x).numpy()
    worst = 0.0
    for i in np.ndindex(a.shape):
        for unit in (1, 1j):
            step = np.zeros_like(a)
            step[i] = 1e-6 * unit
            slope = (weighted_upper_factor(a + step) - weighted_upper_factor(a - step)) / 2e-6
            worst = max(worst, abs((gradient[i] * np.conj(unit)).real - float(slope)))
    return worst


for rows in (2, 3):
    check(f"gradient of complex qr, {rows} rows", True, lambda: error_of_qr_gradient(rows) < 1e-6)
for call in (lambda f: f, tf.function):
    check("det of NaN", True, lambda: has_only_nan(call(tf.linalg.det)([[nan, 1.0], [1.0, 1.0]])))
    check("solve", True, lambda: has_only_nan(call(tf.linalg.solve)(middle, tf.ones([3, 1]))))
    check("inverse", True, lambda: has_only_nan(call(tf.linalg.inv)(middle)))
    check(
        "NaN on the first pivot",
        Raises(tf.errors.InvalidArgumentError),
        lambda: call(tf.linalg.solve)([[nan, 1.0], [1.0, 1.0]], tf.ones([2, 1])),
    )
check(
    "infinity that equals out",
    True,
    lambda: has_only_nan(tf.linalg.solve([[inf, 1.0], [inf, 2.0]], tf.ones([2, 1]))),
)
check(
    "a singular system in a batch",
    [[True, True], [False, False]],
    lambda: np.isnan(
        tf.linalg.tridiagonal_solve(
            tf.constant([[[3.0, 0], [1, 3], [0, 1]], [[3.0, 0], [1, 3], [0, 2]]]),
            tf.constant([[1.0, 4], [1, 4]]),
        )
    ).tolist(),
)
check(
    "no pivoting",
    True,
    lambda: has_only_nan(
        tf.linalg.tridiagonal_solve(
            tf.constant([[1.0, 1, 0], [1, 1, 2], [0, 1, 1]]),
            tf.constant([1.0, 4, 2]),
            partial_pivoting=False,
        )
    ),
)
diagonal = np.diag([1.0, 0.1, 0.01])
for tol, rank in (([0.5, 0.05, 0.005], 3), ([[0.5], [0.05], [0.005]], [1, 2, 3]), ([0.05], 2)):
    check(
        f"rank with tolerance {tol}",
        rank,
        lambda: tf.linalg.matrix_rank(diagonal, tol=tol).numpy().tolist(),
    )
check(
    "tolerance that does not broadcast",
    Raises(tf.errors.InvalidArgumentError),
    lambda: tf.linalg.matrix_rank(diagonal, tol=[0.1, 0.2]),
)


def differentiate_lu(part):
    x = tf.constant([[2.0, 1.0], [1.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.linalg.lu(x)[part]
    return tape.gradient(y, x)


for part in (0, 1):
    check("gradient of lu", Raises(LookupError), lambda: differentiate_lu(part))
    check(
        "gradient of lu in a function",
        Raises(LookupError),
        lambda: tf.function(differentiate_lu)(part),
    )
end()
