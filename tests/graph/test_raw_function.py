"""Functions of raw arrays: their shape rules agree with their results, whatever size is unknown."""

import importlib
import pkgutil
from collections import defaultdict

import numpy as np
import pytest

import gradtape
import gradtape as tf
from gradtape.core.lazy_array import TracedArray
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.graph.trace import Trace
from gradtape.graph.trace_op import make_raw_op
from tests.jit.every_op import programs
from tests.sweep.open_sizes import check_shape_rule
from tests.sweep.sample import Sample

# Functions without a rule
WITHOUT_RULE = {"call_numpy_creator": "it calls any function of NumPy that makes an array"}
LAYERS = tuple(f"gradtape.{layer}" for layer in ("core", "ops", "state", "graph", "tf"))
CALLS_EACH = 12  # calls of one function that are checked
VALUES = tf.constant([3, 1, 2, 4, 1])
LENGTHS = tf.constant([2, 0, 3], tf.int64)
MATRIX = tf.constant([[1, 2, 0], [3, 0, 0]])


def ragged(values, lengths=LENGTHS):
    return tf.RaggedTensor.from_row_lengths(values, lengths)


def cut(matrix):
    """A sparse matrix of the elements that are not zero."""
    return tf.sparse.from_dense(matrix)


TABLE = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2]), tf.constant([5.0, 6.0])), -1.0
)

VARIABLE = tf.Variable(tf.zeros([4, 3]))

# Programs that reach functions which the programs of every op do not reach
MORE_PROGRAMS = [
    (lambda v, n: tf.math.bincount(ragged(v, n), axis=-1), VALUES, LENGTHS),
    (lambda v, i: tf.gather(ragged(v, [2, 3]), i, batch_dims=1), VALUES, [[0], [2]]),
    (lambda v, n: tf.gather(ragged(v, n), tf.constant([2, 0])).to_tensor(), VALUES, LENGTHS),
    (lambda v, i: tf.RaggedTensor.from_value_rowids(v, i, 4).values, VALUES, [0, 0, 2, 2, 2]),
    (lambda v, i: tf.RaggedTensor.from_row_splits(v, i).values, VALUES, [0, 2, 5]),
    (lambda x, n: tf.RaggedTensor.from_tensor(x, lengths=n).values, MATRIX, [2, 1]),
    (lambda x: tf.RaggedTensor.from_tensor(x, padding=0).values, MATRIX),
    (lambda v, n: (ragged(v, n) + tf.constant([[1], [2], [3]])).values, VALUES, LENGTHS),
    (lambda v, n: ragged(v, n)._nested_row_partitions[0].offsets_in_rows(), VALUES, LENGTHS),
    (lambda x: tf.math.bincount(cut(x), axis=-1), MATRIX),
    (lambda x, n: tf.gather(x, ragged(tf.zeros([5], tf.int32), n), axis=1).values, MATRIX, LENGTHS),
    (lambda a, b: tf.ragged.range(a, b).values, [0, 1, 2], [3, 2, 5]),
    (lambda v, n: tf.concat([ragged(v, n), ragged(v, n)], 0).values, VALUES, LENGTHS),
    (
        lambda x: tf.nn.fractional_avg_pool(x, [1, 1.4, 1.4, 1], seed=1)[0],
        tf.ones([1, 6, 6, 2]),
    ),
    (lambda v, n: tf.ragged.cross([ragged(v, n), ragged(v, n)]).values, VALUES, LENGTHS),
    (lambda v, n: ragged(v, n).to_tensor(), VALUES, LENGTHS),
    (lambda v, n: ragged(v, n).to_sparse().indices, VALUES, LENGTHS),
    (lambda v, n: ragged(v, n).bounding_shape(), VALUES, LENGTHS),
    (lambda v, n: ragged(v, n).value_rowids(), VALUES, LENGTHS),
    (lambda v, n: tf.reduce_sum(ragged(v, n), axis=0), VALUES, LENGTHS),
    (lambda v, n: tf.reduce_sum(ragged(v, n), axis=1), VALUES, LENGTHS),
    (lambda v, n: ragged(v, n)[:, 1:].values, VALUES, LENGTHS),
    (lambda v, n: tf.tile(ragged(v, n), [2, 1]).values, VALUES, LENGTHS),
    (
        lambda v, n: tf.ragged.boolean_mask(ragged(v, n), ragged(v > 1, n)).values,
        VALUES,
        LENGTHS,
    ),
    (
        lambda v, i: tf.ragged.stack_dynamic_partitions(v, i, 3).values,
        VALUES,
        [0, 2, 0, 1, 1],
    ),
    (
        lambda a, b: tf.linalg.tridiagonal_solve(a, b, partial_pivoting=False),
        tf.constant([[1.0, 1, 0], [4, 5, 6], [0, 1, 1]]),
        tf.ones([3, 2]),
    ),
    (lambda k: TABLE.lookup(k), VALUES),
    (lambda x: VARIABLE[1:3].assign(x), tf.ones([2, 3])),
    (lambda x: VARIABLE.scatter_nd_add([[1, 2]], x), tf.ones([1])),
    (lambda x: VARIABLE.scatter_update(tf.IndexedSlices(x, [1])), tf.ones([1, 3])),
    (
        lambda x: VARIABLE.batch_scatter_update(tf.IndexedSlices(x, [[0], [1], [2], [0]])),
        tf.ones([4, 1]),
    ),
    (
        lambda a, w: tf.linalg.lstsq(a, tf.ones([3, 1]), l2_regularizer=w),
        tf.eye(3, 2),
        tf.constant(0.5, tf.float64),
    ),
    (lambda x: tf.sparse.to_dense(cut(tf.strings.as_string(x)), b""), MATRIX),
    (lambda x: tf.RaggedTensor.from_sparse(cut(x)).values, MATRIX),
    (
        lambda p, x: tf.nn.embedding_lookup_sparse(p, cut(x), None, combiner="sum"),
        tf.ones([4, 2]),
        MATRIX,
    ),
]


@pytest.fixture(scope="module")
def raw_calls():
    """Calls of functions of raw arrays in traces of many programs, by function."""
    calls = defaultdict(list)
    call_raw = Trace.call_raw

    def record_and_call(self, function, args, dynamic=False, outputs=False):
        places = [i for i, a in enumerate(args) if type(a) is TracedArray]
        raws = tuple(np.array(args[i].traced_value) for i in places)
        fixed = tuple(None if i in places else a for i, a in enumerate(args))
        if len(calls[function]) < CALLS_EACH:
            calls[function].append((make_raw_op(function, fixed, places, dynamic, outputs), raws))
        return call_raw(self, function, args, dynamic, outputs)

    given = [(p.function(), list(p.arrays.values())) for p in programs().values()]
    given += [(function, args) for function, *args in MORE_PROGRAMS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trace, "call_raw", record_and_call)
        for function, args in given:
            tf.function(function)(*[tf.constant(a) for a in args])
    return calls


def functions_with_rules():
    """All functions of gradtape that have a shape rule."""
    found = set()
    for info in pkgutil.walk_packages(gradtape.__path__, "gradtape."):
        if info.name.startswith(LAYERS):
            module = importlib.import_module(info.name)
            found.update(
                f
                for f in vars(module).values()
                if getattr(f, "__module__", "") == info.name and hasattr(f, "shape_rule")
            )
    return {f for f in found if not isinstance(f, type)}


def test_every_function_has_a_rule_or_a_reason(raw_calls):
    without = {f.__name__ for f, calls in raw_calls.items() if calls[0][0].shape_rule is None}
    assert without == WITHOUT_RULE.keys()


def test_every_rule_is_reached(raw_calls):
    assert {f.__name__ for f in functions_with_rules() - raw_calls.keys()} == set()


def test_rules_agree_with_results(raw_calls):
    for function, calls in raw_calls.items():
        for op, raws in calls:
            if op.shape_rule is None:
                continue
            sizes = [s for spec in infer_specs(op, raws, {}) for s in spec.shape]
            assert op.dynamic or op.name in FOUND_SIZES or FRESH not in sizes, function
            axes = [(i, k) for i, raw in enumerate(raws) for k in range(raw.ndim)]
            for unknown in [set(), *({axis} for axis in axes), {*axes}]:
                for with_hints in (True, False):
                    check_shape_rule(op, Sample(raws), unknown, with_hints, FRESH in sizes)


# Functions that are not dynamic, although the size of a result is in their data: guards on other
# values determine it.
FOUND_SIZES: set[str] = set()
