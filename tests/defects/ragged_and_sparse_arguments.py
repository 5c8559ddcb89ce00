"""Ragged and sparse arguments of functions for dense tensors."""

from checking import Raises, check, end

import gradtape as tf

ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
sparse = tf.sparse.from_dense([[0.0, -2.0], [3.0, 0.0]])
counts = tf.sparse.from_dense([[1, 2, 1], [0, 3, 3]])
table = tf.reshape(tf.range(6.0), [3, 2])
ids = tf.ragged.constant([[0, 1], [], [2]], dtype=tf.int64)
weights = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
spec = tf.RaggedTensorSpec([None, None], tf.float32)

UNARY = "abs asin asinh atan atanh erf negative sign sin sqrt square tan tanh"
for name in UNARY.split():
    check(f"{name} of sparse", [2], lambda: getattr(tf.math, name)(sparse).values.shape.as_list())
check("abs by name", [2, 3], lambda: tf.abs(x=sparse).values.numpy().tolist())
check("abs in a function", [2, 3], lambda: tf.function(tf.abs)(sparse).values.numpy().tolist())
check("exp of sparse", Raises(ValueError), lambda: tf.exp(sparse))

rows = [[0, 2, 1, 0], [0, 0, 0, 2]]
check("bincount", rows, lambda: tf.math.bincount(counts, axis=-1).numpy().tolist())
check("bincount of all", [0, 2, 1, 2], lambda: tf.math.bincount(counts).numpy().tolist())
check(
    "bincount with weights",
    [[0, 4, 2, 0], [0, 0, 0, 9]],
    lambda: (
        tf.math.bincount(counts, counts.with_values([1.0, 2, 3, 4, 5]), axis=-1).numpy().tolist()
    ),
)
check(
    "binary bincount",
    [[0, 1, 1], [0, 0, 0]],
    lambda: tf.math.bincount(counts, maxlength=3, axis=-1, binary_output=True).numpy().tolist(),
)


@tf.custom_gradient
def double(x):
    return x * 2.0, lambda g: g * 5.0


@tf.custom_gradient
def multiply(x, factor):
    return x * factor, lambda g: (g * factor, tf.reduce_sum(g * x))


def gradients_of(function, *args):
    with tf.GradientTape() as tape:
        tape.watch(args)
        y = function(*args)
    return tape.gradient(y, list(args))


for call in (gradients_of, tf.function(gradients_of)):
    check("gradient of ragged", [[5, 5], [5]], lambda: call(double, ragged)[0].to_list())
    check("two arguments", 6, lambda: float(call(multiply, ragged, tf.constant(3.0))[1]))


def call_python(x):
    return tf.py_function(lambda row: row * 2.0, [x], Tout=spec)


check("py_function", [[2, 4], [6]], lambda: call_python(ragged).to_list())
traced = tf.function(call_python)
for _ in range(3):
    check("py_function in a function", [[2, 4], [6]], lambda: traced(ragged).to_list())
check(
    "gradient of py_function", [[2, 2], [2]], lambda: gradients_of(call_python, ragged)[0].to_list()
)
check(
    "py_function of sparse",
    1,
    lambda: float(tf.py_function(tf.sparse.reduce_sum, [sparse], Tout=tf.float32)),
)
check(
    "py_function that returns no ragged tensor",
    Raises(tf.errors.InvalidArgumentError),
    lambda: tf.py_function(lambda x: x, [1.0], Tout=spec),
)

check(
    "embedding_lookup_sparse",
    [[2, 4], [0, 0], [4, 5]],
    lambda: tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum").numpy().tolist(),
)
check(
    "with weights",
    [[4, 7], [0, 0], [12, 15]],
    lambda: tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sum").numpy().tolist(),
)
check(
    "safe_embedding_lookup_sparse",
    [[1, 2], [4, 5], [4, 5]],
    lambda: tf.nn.safe_embedding_lookup_sparse(table, ids, default_id=2).numpy().tolist(),
)
end()
