"""Ragged tensors under tapes, in functions, structures and loops, and printed."""

import io
import sys

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError

ROWS = tf.ragged.constant([[1.0, 2.0], [], [3.0]])


def gradient(function, source):
    with tf.GradientTape() as tape:
        if not isinstance(source, tf.Variable):
            tape.watch(source)
        y = function(source)
    return tape.gradient(y, source)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: tf.reduce_sum(x * x), [[2, 4], [], [6]]),
        (lambda x: tf.reduce_sum(x.to_tensor() ** 2), [[2, 4], [], [6]]),
        (lambda x: x * x, [[2, 4], [], [6]]),
        (lambda x: tf.reduce_sum(x * x, axis=1), [[2, 4], [], [6]]),
        (lambda x: tf.reduce_mean(x, axis=1), [[0.5, 0.5], [], [1]]),
        (lambda x: tf.concat([x, x], 1) * 3.0, [[6, 6], [], [6]]),
        (lambda x: x[:, :1], [[1, 0], [], [1]]),
        (lambda x: tf.gather(x, [2, 2, 0]), [[1, 1], [], [2]]),
        (lambda x: x * [[1.0], [2.0], [3.0]], [[1, 1], [], [3]]),
        (lambda x: tf.reduce_max(x, axis=0), [[0, 1], [], [1]]),
    ],
)
def test_gradients_flow_through_the_flat_values(function, expected):
    assert gradient(function, ROWS).to_list() == expected


def test_gradients_reach_the_sources_of_the_values():
    v = tf.Variable([1.0, 2.0, 3.0])
    rows = [0, 2, 3]
    found = gradient(lambda v: tf.RaggedTensor.from_row_splits(v, rows) ** 2, v)
    assert found.numpy().tolist() == [2, 4, 6]
    column = gradient(lambda v: ROWS * tf.reshape(v, [3, 1]), v)
    assert tf.convert_to_tensor(column).numpy().tolist() == [3, 0, 3]


def test_the_gradient_of_an_unconnected_source_is_none():
    assert gradient(lambda x: tf.constant(1.0), ROWS) is None


def test_softmax_of_each_row():
    rows = tf.nn.softmax(ROWS)
    np.testing.assert_allclose(rows.flat_values, [0.26894143, 0.7310586, 1.0], rtol=1e-6)
    weights = ROWS.with_flat_values([1.0, 0.0, 5.0])
    slope = gradient(lambda x: tf.nn.softmax(x) * weights, ROWS)
    np.testing.assert_allclose(slope.flat_values, [0.19661194, -0.19661194, 0.0], atol=1e-6)


def test_statistics_of_each_row():
    np.testing.assert_allclose(tf.math.reduce_std(ROWS, axis=1), [0.5, np.nan, 0.0])
    np.testing.assert_allclose(tf.math.reduce_variance(ROWS, axis=1), [0.25, np.nan, 0.0])
    np.testing.assert_allclose(
        tf.reduce_logsumexp(ROWS, axis=1), [2.3132617, -np.inf, 3.0], rtol=1e-6
    )


def test_a_function_takes_and_returns_ragged_tensors():
    @tf.function
    def step(x):
        return x * 2.0, tf.reduce_sum(x, axis=1), x.to_tensor(), x[1:], x[:, -1:]

    for lengths in ([2, 0, 1], [1, 1, 1], [0, 3, 0]):
        x = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], lengths)
        for now, plain in zip(step(x), step.python_function(x), strict=True):
            assert repr(now) == repr(plain)


def test_uniform_and_ragged_rows_have_separate_traces():
    first = tf.function(lambda x: x[:, 0] if x.uniform_row_length is not None else x[:, :1])
    even = tf.RaggedTensor.from_tensor([[1, 2], [3, 4]])
    uneven = tf.RaggedTensor.from_row_lengths([1, 2, 3, 4], [1, 3])
    for _ in range(2):
        assert first(even).numpy().tolist() == [1, 3]
        assert first(uneven).to_list() == [[1], [2]]


def test_a_compiled_function_rejects_rows_that_differ():
    total = tf.function(lambda x, y: tf.reduce_sum(x + y))
    x, y = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[1, 2], [3]])
    assert [int(total(x, y)), int(total(x, y))] == [12, 12]
    with pytest.raises(InvalidArgumentError, match="lengths"):
        total(x, tf.ragged.constant([[1], [2, 3]]))


def test_an_input_signature_is_enforced():
    spec = tf.RaggedTensorSpec([None, None], tf.float32)
    total = tf.function(tf.reduce_sum, input_signature=[spec])
    assert total(ROWS).numpy() == 6
    for wrong in (tf.cast(ROWS, tf.int32), tf.constant([[1.0]])):
        with pytest.raises(TypeError, match="RaggedTensorSpec"):
            total(wrong)


def test_a_concrete_function_from_a_spec_knows_its_outputs():
    spec = tf.RaggedTensorSpec([None, None])
    concrete = tf.function(lambda x: x * 2.0).get_concrete_function(spec)
    assert concrete.structured_outputs == spec
    assert concrete(ROWS).to_list() == [[2, 4], [], [6]]


def test_string_functions_in_a_function():
    loud = tf.function(lambda x: tf.strings.upper(tf.strings.split(x)))
    assert loud(tf.constant(["a b", "c"])).to_list() == [[b"A", b"B"], [b"C"]]
    assert loud(tf.constant(["", "d e"])).to_list() == [[], [b"D", b"E"]]


def test_branches_and_loops():
    chosen = tf.cond(tf.constant(True), lambda: ROWS * 2.0, lambda: ROWS)
    assert chosen.to_list() == [[2, 4], [], [6]]
    _, last = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, ROWS))
    assert last.to_list() == [[8, 16], [], [24]]


def test_nest_flattens_ragged_tensors_with_expand_composites():
    parts = tf.nest.flatten({"a": ROWS}, expand_composites=True)
    assert [part.numpy().tolist() for part in parts] == [[1, 2, 3], [0, 2, 2, 3]]
    doubled = tf.nest.map_structure(lambda t: t, ROWS, expand_composites=True)
    assert doubled.to_list() == ROWS.to_list()
    assert tf.nest.flatten(ROWS) == [ROWS]


def test_map_fn_maps_over_rows():
    assert tf.map_fn(tf.reduce_sum, ROWS, fn_output_signature=tf.float32).numpy().tolist() == [
        3,
        0,
        3,
    ]
    assert tf.map_fn(lambda row: row * 2, ROWS).to_list() == [[2, 4], [], [6]]
    spec = tf.RaggedTensorSpec([None], tf.int32)
    counted = tf.map_fn(tf.range, tf.constant([1, 0, 2]), fn_output_signature=spec)
    assert counted.to_list() == [[0], [], [0, 1]]
    none = tf.map_fn(tf.range, tf.zeros([0], tf.int32), fn_output_signature=spec)
    assert (none.to_list(), none.shape.as_list()) == ([], [0, None])


def test_ragged_tensors_are_printed_with_commas(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    tf.print(ROWS, tf.ragged.constant([["a"], ["b", "c"]]), {"k": tf.ragged.range([7, 1])})
    assert sys.stderr.getvalue() == (
        "[[1.000000, 2.000000], [], [3.000000]] [['a'], ['b', 'c']] "
        "{'k': [[0, 1, 2, ..., 4, 5, 6], [0]]}\n"
    )
    assert tf.strings.format("<{}>", ROWS[:1]).numpy() == b"<[[1.000000, 2.000000]]>"


def test_row_partition_converts_between_its_forms():
    partition = tf.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
    assert partition.row_splits().numpy().tolist() == [0, 2, 2, 3, 3]
    assert partition.row_lengths().numpy().tolist() == [2, 0, 1, 0]
    assert partition.offsets_in_rows().numpy().tolist() == [0, 1, 0]
    assert partition.with_dtype(tf.int32).dtype == tf.int32
    assert repr(partition) == "tf.RowPartition(row_splits=[0 2 2 3 3])"
    even = tf.experimental.RowPartition.from_uniform_row_length(2, nvals=4)
    assert (even.is_uniform(), int(even.nrows()), int(even.nvals())) == (True, 2, 4)


def test_cross_combines_the_elements_of_each_row():
    rows = tf.ragged.constant([["a"], ["b", "c"], []])
    crossed = tf.ragged.cross([rows, [[1, 2], [3, 4], [5, 6]]])
    assert crossed.to_list() == [
        [b"a_X_1", b"a_X_2"],
        [b"b_X_3", b"b_X_4", b"c_X_3", b"c_X_4"],
        [],
    ]


def test_bincount_counts_all_rows_or_each_row():
    rows = tf.ragged.constant([[1, 1], [], [3]])
    assert tf.math.bincount(rows).numpy().tolist() == [0, 2, 0, 1]
    assert tf.math.bincount(rows, axis=-1).numpy().tolist() == [[0, 2, 0, 0], [0] * 4, [0, 0, 0, 1]]


def test_stack_dynamic_partitions_appends_slices_to_rows():
    stacked = tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], num_partitions=3)
    assert stacked.to_list() == [[b"b"], [b"a", b"c"], []]


def test_ngrams_join_neighbours_of_each_row():
    words = tf.ragged.constant([["a", "b", "c"], ["d"], []])
    assert tf.strings.ngrams(words, 2).to_list() == [[b"a b", b"b c"], [], []]
    both = tf.strings.ngrams(words, [1, 2], separator="-", pad_values=("<", ">"))
    assert both.to_list()[1] == [b"d", b"<-d", b"d->"]
    short = tf.strings.ngrams(words, 2, preserve_short_sequences=True)
    assert short.to_list() == [[b"a b", b"b c"], [b"d"], []]
    function = tf.function(lambda rows: tf.strings.ngrams(rows, 3).to_tensor("?"))
    for _ in range(2):
        assert function(words).numpy().tolist() == [[b"a b c"], [b"?"], [b"?"]]
