"""Datasets of ragged tensors: specs, sizes and elements are those of TensorFlow."""

import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.tape.custom_gradient import RECOMPUTE_STATE

Dataset = tf.data.Dataset
ROWS = tf.ragged.constant([[1, 2], [], [3]])
DEEP = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
WIDE = tf.ragged.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
EVEN = tf.RaggedTensor.from_tensor([[1, 2], [3, 4]])


def ragged(shape, rank, dtype="int32", splits="int64"):
    return tf.RaggedTensorSpec(shape, dtype, rank, splits)


def stairs():
    return Dataset.range(1, 4).map(tf.range)


@pytest.mark.parametrize(
    ("dataset", "spec", "elements"),
    [
        (Dataset.from_tensors(ROWS), ragged([3, None], 1), [[[1, 2], [], [3]]]),
        (Dataset.from_tensor_slices(ROWS), ragged([None], 0), [[1, 2], [], [3]]),
        (
            Dataset.from_tensor_slices(DEEP),
            ragged([None, None], 1),
            [[[1, 2], [3]], [], [[4]]],
        ),
        (
            Dataset.from_tensor_slices(WIDE),
            ragged([None, 2], 0),
            [[[1, 2], [3, 4]], [], [[5, 6]]],
        ),
        (Dataset.from_tensor_slices(EVEN), ragged([2], 0), [[1, 2], [3, 4]]),
        (
            Dataset.from_tensor_slices(ROWS).batch(2),
            ragged([None, None], 1),
            [[[1, 2], []], [[3]]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).take(3).map(lambda x: x * 2).take(1).batch(2),
            tf.TensorSpec([None, None], tf.int32),
            [[[2, 4]]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).filter(lambda x: tf.size(x) > 0).batch(2),
            ragged([None, None], 1),
            [[[1, 2], [3]]],
        ),
        (
            Dataset.from_tensor_slices(DEEP).batch(2),
            ragged([None, None, None], 2),
            [[[[1, 2], [3]], []], [[[4]]]],
        ),
        (
            Dataset.from_tensor_slices(WIDE).batch(2),
            ragged([None, None, 2], 1),
            [[[[1, 2], [3, 4]], []], [[[5, 6]]]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).batch(2, drop_remainder=True),
            ragged([2, None], 1),
            [[[1, 2], []]],
        ),
        (
            Dataset.from_tensors(ROWS).repeat(2).batch(2),
            ragged([None, 3, None], 2),
            [[[[1, 2], [], [3]], [[1, 2], [], [3]]]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).batch(2).map(lambda x: x + 1),
            ragged([None, None], 1),
            [[[2, 3], []], [[4]]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).batch(2).map(lambda x: x.to_tensor()),
            tf.TensorSpec([None, None], tf.int32),
            [[[1, 2], [0, 0]], [[3]]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).batch(2).map(lambda x: tf.reduce_sum(x, axis=1)),
            tf.TensorSpec([None], tf.int32),
            [[3, 0], [3]],
        ),
        (
            Dataset.from_tensor_slices(ROWS).batch(2).unbatch(),
            ragged([None], 0),
            [[1, 2], [], [3]],
        ),
        (
            Dataset.from_tensor_slices(DEEP).map(lambda x: x.merge_dims(0, 1)),
            tf.TensorSpec([None], tf.int32),
            [[1, 2, 3], [], [4]],
        ),
        (stairs().ragged_batch(2), ragged([None, None], 1, "int64"), [[[0], [0, 1]], [[0, 1, 2]]]),
        (
            stairs().ragged_batch(2, True, tf.int32),
            ragged([2, None], 1, "int64", "int32"),
            [[[0], [0, 1]]],
        ),
        (
            stairs().apply(tf.data.experimental.dense_to_ragged_batch(3)),
            ragged([None, None], 1, "int64"),
            [[[0], [0, 1], [0, 1, 2]]],
        ),
        (
            Dataset.range(1, 3).map(lambda n: tf.fill([n, 2], n)).ragged_batch(2),
            ragged([None, None, 2], 1, "int64"),
            [[[[1, 1]], [[2, 2], [2, 2]]]],
        ),
        (
            Dataset.range(1, 3).map(lambda n: tf.fill([n, n], n)).ragged_batch(2),
            ragged([None, None, None], 2, "int64"),
            [[[[1]], [[2, 2], [2, 2]]]],
        ),
        (
            Dataset.range(1, 3).map(lambda n: tf.fill([2], n)).ragged_batch(2),
            tf.TensorSpec([None, 2], tf.int64),
            [[[1, 1], [2, 2]]],
        ),
        (
            Dataset.from_generator(lambda: iter([ROWS]), output_signature=ragged([None, None], 1)),
            ragged([None, None], 1),
            [[[1, 2], [], [3]]],
        ),
        (
            Dataset.from_tensor_slices(["a b", "c"]).batch(2).map(tf.strings.split),
            ragged([None, None], 1, "string"),
            [[[b"a", b"b"], [b"c"]]],
        ),
        (
            Dataset.from_tensors([[1, 2], [3, 4]]).map(tf.RaggedTensor.from_tensor),
            ragged([2, 2], 1),
            [[[1, 2], [3, 4]]],
        ),
    ],
)
def test_elements_and_specs(dataset, spec, elements):
    assert dataset.element_spec == spec
    found = list(dataset)
    assert [x.to_list() if hasattr(x, "to_list") else x.numpy().tolist() for x in found] == elements
    assert all(spec.is_compatible_with(x) for x in found)


def test_rows_among_other_components():
    dataset = Dataset.from_tensor_slices({"rows": ROWS, "number": [1, 2, 3]}).shuffle(3, seed=1)
    (batch,) = dataset.batch(3)
    pairs = zip(batch["number"].numpy().tolist(), batch["rows"].to_list(), strict=True)
    assert sorted(pairs) == [(1, [1, 2]), (2, []), (3, [3])]
    (zipped,) = Dataset.zip((Dataset.from_tensor_slices(ROWS), Dataset.range(3))).batch(3)
    assert zipped[0].to_list() == ROWS.to_list()


def test_an_iteration_inside_a_function():
    dataset = Dataset.from_tensor_slices(ROWS).batch(2)

    @tf.function
    def total(batches):
        result = tf.constant(0)
        for batch in batches:
            result += tf.reduce_sum(batch)
        return result

    assert [int(total(dataset)), int(total(dataset))] == [6, 6]


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda: Dataset.from_tensor_slices((ROWS, [1, 2]))),
        (TypeError, lambda: Dataset.from_tensor_slices(ROWS).padded_batch(2)),
        (
            InvalidArgumentError,
            lambda: list(
                Dataset.from_generator(
                    lambda: iter([tf.cast(ROWS, tf.float32)]),
                    output_signature=ragged([None, None], 1),
                )
            ),
        ),
        (NotImplementedError, lambda: Dataset.from_tensors(ROWS).save("unused")),
    ],
)
def test_invalid_arguments_raise(error, make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        make()


def test_a_module_with_random_state_may_be_imported_during_spec_inference():
    before = len(RECOMPUTE_STATE)

    def importing(x):
        RECOMPUTE_STATE.append((lambda: None, lambda state: None))
        return x

    assert Dataset.range(2).map(importing).element_spec == tf.TensorSpec((), tf.int64)
    del RECOMPUTE_STATE[before:]
