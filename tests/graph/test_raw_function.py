"""Functions of raw arrays: their shape rules agree with their results, whatever size is unknown."""

import importlib
import pkgutil
from collections import defaultdict

import numpy as np
import pytest

import gradtape
import gradtape as tf
from gradtape.core.dims import UnknownSizeError
from gradtape.core.lazy_array import TracedArray
from gradtape.core.open_shape import substitute
from gradtape.core.shape_rule import FRESH, infer_specs
from gradtape.core.size_constant import compute_constant, scale_power, to_scalar
from gradtape.core.size_context import SizeContext
from gradtape.core.size_function import evaluate
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.trace import Trace
from gradtape.graph.trace_op import make_raw_op
from gradtape.ops.convolution.window import Window
from gradtape.ops.gather_scatter import make_row_starts
from gradtape.ops.image.filter_matrix import nearest_indices
from gradtape.ops.initial_cotangent import make_batch_identity_rows, make_identity_rows
from gradtape.ops.linalg.diagonal import band_mask
from gradtape.ops.signal.dct import half_sample_phases, length_factors
from gradtape.tf.array.dynamic_index import normalize_index_in
from gradtape.tf.array.pad import mask_padding, mirror_positions
from gradtape.tf.array.range import inner_positions
from gradtape.tf.linalg.diagonal import mask_diagonals
from gradtape.tf.linalg.solve import default_rcond
from gradtape.tf.nn.pool import count_window_elements
from gradtape.tf.numpy.index import mask_triangle
from gradtape.tf.ragged.shape import interleave_rows
from tests.jit.every_op import programs
from tests.sweep.open_sizes import check_shape_rule, open_numbers
from tests.sweep.sample import Sample

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


def empty_rows(indices, values):
    """The arguments of a raw op: rows 1 and 3 are empty."""
    return {
        "indices": tf.cast(indices, tf.int64),
        "values": values,
        "dense_shape": tf.constant([4, 2], tf.int64),
        "default_value": 7,
    }


MORE_PROGRAMS = [
    (lambda x, i: apply_raw(normalize_index_in, i, x, 0), MATRIX, -1),
    (lambda i: tf.random_index_shuffle(i, [1, 2, 3], 9), [1, 4]),
    (
        lambda i, v: tf.raw_ops.SparseFillEmptyRows(**empty_rows(i, v))[1],
        [[0, 1], [2, 0]],
        [1, 2],
    ),
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
    (lambda a, x: tf.raw_ops.IgammaGradA(a=a, x=x), [1.0, 2.0], [0.5, 1.5]),
    (lambda a, x: tf.raw_ops.RandomGammaGrad(alpha=a, sample=x), [1.0, 2.0], [0.5, 1.5]),
    (lambda a, b: tf.raw_ops.BroadcastGradientArgs(s0=a, s1=b), [2, 3], [1, 3]),
]


# Functions of sizes alone, with arguments; numbers that are not negative may be unknown sizes
CONSTANTS = [
    (make_identity_rows, 1, 3, (2, 2), np.dtype("float32")),
    (make_batch_identity_rows, 0, 2, (3, 2), np.dtype("float32")),
    (interleave_rows, 3, 2),
    (make_row_starts, (2, 3), 4),
    (make_row_starts, (), 4),
    (half_sample_phases, 5, -1, np.float32),
    (length_factors, 4, 0.5, 1.0, 2.0, np.float64),
    (scale_power, 4, 0.5, -0.5, np.float32),
    (band_mask, 3, 4, 1, 2),
    (mask_diagonals, -1, 2, 3, 4),
    (nearest_indices, 5, 7),
    (count_window_elements, Window((2, 3), (1, 2), (1, 1), ((1, 0), (0, 1))), (5, 6), np.float32),
    (mirror_positions, 4, 2, 1, True),
    (mask_padding, (2, 3), ((1, 0), (0, 2))),
    (default_rcond, 5, np.dtype("float64")),
    (mask_triangle, np.greater, 0, 3, 4),
    (np.eye, 3, None, 0, np.float32),
    (to_scalar, 3, np.float32),
    (inner_positions, 5, (1,), np.float32),
]


@pytest.mark.parametrize(("function", "args"), [(f, args) for f, *args in CONSTANTS])
@pytest.mark.parametrize("with_hints", [True, False])
def test_rules_of_constants_agree_with_results(function, args, with_hints):
    context = SizeContext(with_hints)
    env = {}

    def make_unknown(size):
        dim = context.make_unknown(hint=size)
        env[context.unknowns[-1]] = size
        return dim

    wanted = np.asarray(compute_constant(function, *args))
    for given in (tuple(args), open_numbers(tuple(args), make_unknown)):
        (spec,) = infer_specs(make_raw_op(function, given, [], False, False), (), {})
        if context.holds(env):
            assert tuple(evaluate(size, env) for size in spec.shape) == wanted.shape
        assert spec.dtype == wanted.dtype
    assert not any(a.kind == "==" and a.answer for a in context.assumptions.values())


def test_a_constant_of_an_unknown_size_needs_a_trace():
    n = SizeContext(with_hints=True).make_unknown("n", hint=3)
    with pytest.raises(UnknownSizeError, match="nearest_indices"):
        compute_constant(nearest_indices, n, 4)


@pytest.fixture(scope="module")
def raw_calls():
    """Calls of functions of raw arrays in traces of many programs, by function."""
    calls = defaultdict(list)
    call_raw = Trace.call_raw

    def record_and_call(self, function, args, dynamic=False, outputs=False):
        places = [i for i, a in enumerate(args) if type(a) is TracedArray]
        raws = tuple(np.array(args[i].traced_value) for i in places)
        hints = (self.sizes and self.sizes.hints) or {}  # sizes that serve as arguments
        fixed = tuple(None if i in places else substitute(a, hints) for i, a in enumerate(args))
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


def test_every_function_has_a_rule(raw_calls):
    assert all(calls[0][0].shape_rule is not None for calls in raw_calls.values())


CONSTANT_FUNCTIONS = {function for function, *_ in CONSTANTS}


def test_every_rule_is_reached(raw_calls):
    assert {
        f.__name__ for f in functions_with_rules() - raw_calls.keys() - CONSTANT_FUNCTIONS
    } == set()


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
