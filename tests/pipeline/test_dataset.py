"""tf.data: the parts that Keras and eager training loops use."""

from collections import OrderedDict

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset
INT64 = tf.TensorSpec((), tf.int64)


def listed(dataset):
    return [element.numpy().tolist() for element in dataset]


@pytest.mark.parametrize(
    ("dataset", "elements", "size"),
    [
        (Dataset.range(3), [0, 1, 2], 3),
        (Dataset.range(2, 10, 3), [2, 5, 8], 3),
        (Dataset.from_tensors([1, 2]), [[1, 2]], 1),
        (Dataset.from_tensor_slices([[1, 2], [3, 4]]), [[1, 2], [3, 4]], 2),
        (Dataset.range(5).map(lambda x: x * x), [0, 1, 4, 9, 16], 5),
        (
            Dataset.range(3).flat_map(lambda x: Dataset.from_tensors(x).repeat(2)),
            [0, 0, 1, 1, 2, 2],
            -2,
        ),
        (Dataset.range(5).filter(lambda x: x > 2), [3, 4], -2),
        (Dataset.range(2).repeat(3), [0, 1, 0, 1, 0, 1], 6),
        (Dataset.range(2).repeat(0), [], 0),
        (Dataset.range(0).repeat(), [], 0),
        (Dataset.range(5).batch(2), [[0, 1], [2, 3], [4]], 3),
        (Dataset.range(5).batch(2, drop_remainder=True), [[0, 1], [2, 3]], 2),
        (Dataset.range(5).batch(2).unbatch(), [0, 1, 2, 3, 4], -2),
        (Dataset.range(5).prefetch(1), [0, 1, 2, 3, 4], 5),
        (Dataset.range(5).take(2), [0, 1], 2),
        (Dataset.range(5).take(-1), [0, 1, 2, 3, 4], 5),
        (Dataset.range(5).repeat().take(7), [0, 1, 2, 3, 4, 0, 1], 7),
        (Dataset.range(5).skip(3), [3, 4], 2),
        (Dataset.range(5).skip(-1), [], 0),
        (Dataset.range(2).concatenate(Dataset.range(1)), [0, 1, 0], 3),
    ],
)
def test_elements_and_cardinality(dataset, elements, size):
    assert listed(dataset) == elements
    assert listed(dataset) == elements  # a second iteration starts over
    assert dataset.cardinality() == size
    assert dataset.cardinality().dtype == tf.int64
    if size >= 0:
        assert len(dataset) == size


def test_unknown_and_infinite_lengths_raise():
    with pytest.raises(TypeError, match="infinite"):
        len(Dataset.range(3).repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(Dataset.range(3).filter(lambda x: True))
    assert Dataset.range(3).repeat().cardinality() == tf.data.INFINITE_CARDINALITY
    assert bool(Dataset.range(0))


def test_structures_are_kept():
    dataset = Dataset.from_tensors((np.ones((3, 2)), None, {"b": 1, "a": (2.0,)}))
    (element,) = dataset
    assert element[1] is None
    assert list(element[2]) == ["b", "a"]
    assert dataset.element_spec == (
        tf.TensorSpec((3, 2), tf.float64),
        dataset.element_spec[1],
        {"b": tf.TensorSpec((), tf.int32), "a": (tf.TensorSpec((), tf.float32),)},
    )
    assert repr(dataset.element_spec[1]) == "NoneTensorSpec()"


def test_tuples_are_unpacked_and_lists_become_tuples():
    dataset = Dataset.from_tensor_slices(([1, 2], [3, 4])).map(lambda a, b: [a, (a + b, b)])
    assert [(a.numpy(), c.numpy(), b.numpy()) for a, (c, b) in dataset] == [(1, 4, 3), (2, 6, 4)]
    assert dataset.element_spec == (tf.TensorSpec((), tf.int32),) * 1 + (
        (tf.TensorSpec((), tf.int32),) * 2,
    )
    dictionary = Dataset.from_tensor_slices({"a": [1, 2]}).map(lambda d: d["a"] + 1)
    assert listed(dictionary) == [2, 3]


def test_zip_ends_with_the_shortest_and_keeps_the_structure():
    zipped = Dataset.zip(
        {"b": Dataset.range(3), "a": (Dataset.range(5, 9), Dataset.from_tensors(1).repeat())}
    )
    first, *_ = elements = list(zipped)
    assert len(elements) == len(zipped) == 3
    assert list(first) == ["b", "a"]
    assert first["b"] == 0
    assert [t.numpy() for t in first["a"]] == [5, 1]
    pairs = Dataset.zip(Dataset.range(2), Dataset.range(2))
    assert pairs.element_spec == (INT64, INT64)


def test_other_mappings_keep_their_type():
    ordered = OrderedDict([("z", [1, 2]), ("a", [3, 4])])
    first = next(iter(Dataset.from_tensor_slices(ordered)))
    assert type(first) is OrderedDict
    assert list(first) == ["z", "a"]


@pytest.mark.parametrize(
    ("dataset", "spec"),
    [
        (Dataset.range(3).batch(2), tf.TensorSpec((None,), tf.int64)),
        (Dataset.range(4).batch(2, drop_remainder=True), tf.TensorSpec((2,), tf.int64)),
        (
            Dataset.range(4).batch(3).map(lambda x: x[:, None] * [[1, 2]]),
            tf.TensorSpec((None, 2), tf.int64),
        ),
        (Dataset.range(4).batch(3).map(lambda x: x[:2]), tf.TensorSpec((None,), tf.int64)),
        (Dataset.range(3).flat_map(Dataset.from_tensors), INT64),
        (Dataset.range(3, output_type=tf.int32), tf.TensorSpec((), tf.int32)),
        (Dataset.range(3).enumerate(), (INT64, INT64)),
        (
            Dataset.from_tensors([1]).concatenate(Dataset.from_tensors([1, 2])),
            tf.TensorSpec((None,), tf.int32),
        ),
    ],
)
def test_element_spec(dataset, spec):
    assert dataset.element_spec == spec
    assert iter(dataset).element_spec == spec


def test_reading_the_spec_draws_no_random_numbers():
    tf.random.set_seed(3)  # a dataset uses the seed at its creation
    dataset = Dataset.range(1).map(lambda _: tf.random.uniform([2]))
    a = next(iter(dataset)).numpy()
    assert dataset.element_spec == tf.TensorSpec((2,), tf.float32)
    np.testing.assert_array_equal(next(iter(dataset)).numpy(), a)


def test_an_iterator_ends_in_either_way():
    iterator = iter(Dataset.range(1))
    assert isinstance(iterator, tf.data.Iterator)
    assert iterator.get_next() == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)
    assert not iterator.get_next_as_optional().has_value()
    assert iter(Dataset.range(1)).get_next_as_optional().get_value() == 0


def test_gradients_do_not_flow_into_a_pipeline():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = next(iter(Dataset.from_tensors(3.0).map(lambda x: x * v))) * v
    assert tape.gradient(y, v) == 6.0


def test_shuffling_moves_elements_no_further_ahead_than_the_buffer():
    for size in (1, 4, 20, tf.data.UNKNOWN_CARDINALITY):
        order = listed(Dataset.range(10).shuffle(size))
        assert sorted(order) == list(range(10))
        if size > 0:
            assert all(place + size > element for place, element in enumerate(order))
    assert listed(Dataset.range(5).shuffle(1)) == [0, 1, 2, 3, 4]


def test_shuffling_is_reproducible():
    def orders(**options):
        tf.random.set_seed(3)
        dataset = Dataset.range(20).shuffle(20, **options)
        return listed(dataset), listed(dataset)

    assert orders() == orders()
    assert orders(seed=1) == orders(seed=1) != orders(seed=2)
    first, second = orders()
    assert first != second
    first, second = orders(reshuffle_each_iteration=False)
    assert first == second


def test_generators_are_checked_against_their_signature():
    signature = (tf.TensorSpec((None,), tf.float32), tf.TensorSpec((), tf.int32))

    def generate(n):
        for i in range(int(n)):
            yield np.ones(i), i

    dataset = Dataset.from_generator(generate, output_signature=signature, args=[3])
    assert dataset.element_spec == signature
    assert [(x.shape[0], int(i)) for x, i in dataset] == [(0, 0), (1, 1), (2, 2)]
    old = Dataset.from_generator(lambda: iter([1, 2]), output_types=tf.int32, output_shapes=())
    assert listed(old) == [1, 2]
    for wrong in ("a", [2], (1, 2)):
        dataset = Dataset.from_generator(
            lambda w=wrong: iter([w]), output_signature=tf.TensorSpec((), tf.int32)
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="generator"):
            list(dataset)


def test_reduce_enumerate_and_numpy():
    assert Dataset.range(7).reduce(np.int64(0), lambda total, x: total + x) == 21
    assert [(int(i), int(x)) for i, x in Dataset.range(2).enumerate(5)] == [(5, 0), (6, 1)]
    (element,) = Dataset.from_tensors({"a": [1, 2]}).as_numpy_iterator()
    assert element["a"].tolist() == [1, 2]


def test_options_are_kept():
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.deterministic = True
    more = tf.data.Options()
    more.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    found = Dataset.range(3).with_options(options).map(abs).with_options(more).options()
    assert found.deterministic
    assert found.experimental_optimization.apply_default_optimizations is False
    assert (
        found.experimental_distribute.auto_shard_policy == tf.data.experimental.AutoShardPolicy.DATA
    )
    with pytest.raises(AttributeError, match="Cannot set the property speed"):
        options.speed = 1


def test_optional_values():
    optional = tf.experimental.Optional.from_value({"loss": tf.constant(2.0)})
    assert optional.has_value()
    assert optional.get_value()["loss"] == 2.0
    assert optional.element_spec == {"loss": tf.TensorSpec((), tf.float32)}
    empty = tf.experimental.Optional.empty(None)
    assert not empty.has_value()
    assert empty.element_spec is None
    with pytest.raises(tf.errors.InvalidArgumentError):
        empty.get_value()
    assert repr(tf.OptionalSpec(None)) == "OptionalSpec(None,)"


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda: Dataset.from_tensor_slices(3)),
        (ValueError, lambda: Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))),
        (ValueError, lambda: Dataset.range()),
        (ValueError, lambda: Dataset.range(5).map(3)),
        (TypeError, lambda: Dataset.range(3).concatenate(Dataset.from_tensors(1.0))),
        (TypeError, lambda: Dataset.zip(3)),
        (TypeError, lambda: list(Dataset.from_tensor_slices([1, 2]).map(lambda a, b: a))),
        (TypeError, lambda: list(Dataset.range(3).flat_map(lambda x: x))),
        (TypeError, lambda: Dataset.from_generator([1, 2], output_types=tf.int32)),
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).batch(0)),
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).shuffle(0)),
        (
            tf.errors.InvalidArgumentError,
            lambda: list(
                Dataset.from_tensors([1]).concatenate(Dataset.from_tensors([1, 2])).batch(2)
            ),
        ),
    ],
)
def test_bad_input_gets_tensorflows_exception_class(error, make):
    with pytest.raises(error):
        make()


def test_sizes_that_depend_on_values_are_unknown():
    assert Dataset.range(3).map(lambda n: tf.ones([n, 2])).element_spec == tf.TensorSpec(
        (None, 2), tf.float32
    )
    table = tf.constant([[1.0, 2.0]])  # one row only: the placeholders must not index out of range
    looked_up = Dataset.range(1).map(lambda i: tf.gather(table, i))
    assert looked_up.element_spec == tf.TensorSpec((2,), tf.float32)
    words = Dataset.from_tensor_slices(["a", "b"])
    assert [w.dtype for w in words] == [tf.string] * 2
    assert next(iter(words)).shape == ()
    (batch,) = words.map(lambda w: w).batch(2)
    assert batch.numpy().tolist() == [b"a", b"b"]


def test_datasets_are_printed_by_tensorflows_names():
    numbers = Dataset.range(4)
    made = {
        "_RangeDataset": numbers,
        "_TensorSliceDataset": Dataset.from_tensor_slices([1, 2]),
        "_MapDataset": numbers.map(abs),
        "_ParallelMapDataset": numbers.map(abs, tf.data.AUTOTUNE),
        "_BatchDataset": numbers.shuffle(2).batch(2),
        "_ParallelBatchDataset": numbers.batch(2, num_parallel_calls=2),
        "CacheDataset": numbers.cache(),
        "_ZipDataset": Dataset.zip((numbers, numbers)),
        "_VariantDataset": next(iter(numbers.window(2))),
        "TextLineDatasetV2": tf.data.TextLineDataset("a"),
    }
    for name, dataset in made.items():
        assert repr(dataset).startswith(f"<{name} element_spec=")
