"""Random orders and choices equal those of TensorFlow 2.21 for the same seeds."""

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


def listed(dataset):
    return [np.asarray(element.numpy()).tolist() for element in dataset]


def seeded(make, seed=1):
    tf.random.set_seed(seed)
    return make()


def test_a_shuffle_without_an_op_seed_follows_the_global_seed():
    dataset = seeded(lambda: Dataset.range(10).shuffle(10))
    assert listed(dataset) == [6, 7, 0, 3, 4, 8, 9, 5, 1, 2]
    assert listed(dataset) == [0, 3, 7, 1, 4, 8, 9, 5, 2, 6]
    dataset = seeded(lambda: Dataset.range(10).shuffle(4))
    assert listed(dataset) == [2, 0, 1, 6, 3, 5, 9, 8, 7, 4]
    assert listed(dataset) == [0, 4, 3, 5, 1, 7, 9, 8, 2, 6]


FIRST, SECOND = [1, 2, 5, 4, 0, 3, 7, 6, 9, 8], [2, 3, 0, 6, 1, 7, 9, 4, 8, 5]
THIRD, FOURTH = [2, 3, 5, 6, 7, 8, 0, 9, 4, 1], [0, 1, 3, 5, 2, 6, 9, 7, 8, 4]


def test_each_iteration_and_each_repetition_has_a_new_order():
    dataset = seeded(lambda: Dataset.range(10).shuffle(4, seed=3))
    assert [listed(dataset), listed(dataset)] == [FIRST, SECOND]
    dataset = seeded(lambda: Dataset.range(10).shuffle(4, seed=3).repeat(2))
    assert [listed(dataset), listed(dataset)] == [FIRST + SECOND, THIRD + FOURTH]
    mapped = seeded(lambda: Dataset.range(10).shuffle(4, seed=3).map(lambda x: x).repeat(2))
    assert listed(mapped) == FIRST + SECOND
    batches = seeded(lambda: Dataset.range(10).shuffle(4, seed=3).batch(3))
    assert listed(batches) == [FIRST[:3], FIRST[3:6], FIRST[6:9], FIRST[9:]]
    rows = seeded(lambda: Dataset.from_tensor_slices(np.arange(10)).shuffle(4, seed=3).batch(10))
    assert listed(rows) == [FIRST]


def test_the_order_stays_without_reshuffling():
    def make():
        return Dataset.range(10).shuffle(10, seed=3, reshuffle_each_iteration=False)

    order = [7, 5, 9, 8, 0, 3, 1, 4, 6, 2]
    dataset = seeded(make)
    assert [listed(dataset), listed(dataset)] == [order, order]
    assert listed(seeded(make).repeat(2)) == order * 2


def test_buffers_of_any_size():
    for size in (100, tf.data.UNKNOWN_CARDINALITY):
        dataset = seeded(lambda size=size: Dataset.range(10).shuffle(size, seed=3))
        assert listed(dataset) == [7, 8, 5, 2, 9, 6, 0, 3, 4, 1]
    assert listed(seeded(lambda: Dataset.range(6).shuffle(6, seed=0))) == [3, 0, 5, 4, 1, 2]
    assert listed(seeded(lambda: Dataset.range(6).shuffle(6, seed=0), 0)) == [4, 3, 5, 0, 2, 1]
    twice = seeded(lambda: Dataset.range(10).repeat(2).shuffle(4, seed=3))
    assert listed(twice)[:10] == [1, 2, 5, 4, 0, 3, 7, 8, 1, 9]


def test_an_order_is_fixed_when_the_iterator_is_made():
    dataset = seeded(lambda: Dataset.range(6).shuffle(6).prefetch(2).map(lambda x: x))
    first, second = iter(dataset), iter(dataset)
    assert [int(x) for x in second] == [2, 1, 3, 4, 0, 5]
    assert [int(x) for x in first] == [4, 2, 1, 5, 0, 3]


def test_random_numbers():
    fixed = seeded(lambda: Dataset.random(seed=4).take(4))
    numbers = [3140572256, 1890473413, 1605976525, 2919565505]
    assert [listed(fixed), listed(fixed)] == [numbers, numbers]
    redrawn = seeded(lambda: Dataset.random(seed=4, rerandomize_each_iteration=True).take(2))
    assert [listed(redrawn), listed(redrawn)] == [
        [1031416996, 2683143056],
        [2935086158, 1935971334],
    ]
    assert listed(seeded(lambda: Dataset.random().take(2))) == [362095362, 2708693949]


def test_mixtures():
    parts = [Dataset.range(0, 5), Dataset.range(10, 15), Dataset.range(20, 25)]
    even = seeded(lambda: Dataset.sample_from_datasets(parts, seed=4))
    assert listed(even) == [20, 10, 21, 22, 11, 0, 12, 13, 1, 14, 2, 23, 24, 3, 4]
    stopping = seeded(
        lambda: Dataset.sample_from_datasets(
            parts, weights=[0.5, 0.3, 0.2], seed=4, stop_on_empty_dataset=True
        )
    )
    assert listed(stopping) == [20, 10, 21, 22, 0, 1, 2, 3, 4, 11]
    redrawn = seeded(
        lambda: Dataset.sample_from_datasets(
            [parts[0], parts[1].repeat()], weights=[0.5, 0.3], rerandomize_each_iteration=True
        ).take(8)
    )
    assert listed(redrawn) == [10, 0, 1, 2, 11, 3, 12, 4]
    assert listed(redrawn) == [0, 1, 10, 2, 3, 4, 11, 12]


def test_choose_from_datasets():
    parts = [Dataset.range(0, 3), Dataset.range(10, 15)]
    choice = Dataset.from_tensor_slices(np.array([0, 1, 1, 0, 1, 0, 0, 1]))
    assert listed(Dataset.choose_from_datasets(parts, choice)) == [0, 10, 11, 1, 12, 2]
    over = Dataset.choose_from_datasets(parts, choice, stop_on_empty_dataset=False)
    assert listed(over) == [0, 10, 11, 1, 12, 2, 13]
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        listed(Dataset.choose_from_datasets(parts[:1], Dataset.range(3, 5)))


def test_shard_take_while_unique_and_counter():
    assert listed(Dataset.range(9).shard(3, 2)) == [2, 5, 8]
    assert [len(Dataset.range(9).shard(4, i)) for i in range(4)] == [3, 2, 2, 2]
    assert listed(Dataset.range(5).take_while(lambda x: x < 3)) == [0, 1, 2]
    assert listed(Dataset.from_tensor_slices([3, 1, 3, 2, 1]).unique()) == [3, 1, 2]
    assert listed(Dataset.from_tensor_slices(["b", "a", "b"]).unique()) == [b"b", b"a"]
    assert listed(Dataset.counter(5, -2).take(3)) == [5, 3, 1]


def test_iteration_continues_after_an_error():
    def fail_at_one(x):
        tf.debugging.assert_none_equal(x, np.int64(1))
        return x

    for parallel in (None, 2, tf.data.AUTOTUNE):
        dataset = Dataset.range(4).map(fail_at_one, num_parallel_calls=parallel).prefetch(1)
        iterator = iter(dataset)
        assert next(iterator) == 0
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            next(iterator)
        if parallel is None:
            assert "element 1 of the iteration" in caught.value.__notes__[0]
        assert [int(x) for x in iterator] == [2, 3]
        assert listed(dataset.ignore_errors()) == [0, 2, 3]


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).shard(0, 0)),
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).shard(2, 2)),
        (tf.errors.InvalidArgumentError, lambda: Dataset.range(3).shuffle(0)),
        (ValueError, lambda: list(Dataset.range(3).filter(lambda x: x))),
        (ValueError, lambda: list(Dataset.range(3).take_while(lambda x: x))),
        (ValueError, lambda: Dataset.sample_from_datasets([])),
        (ValueError, lambda: Dataset.sample_from_datasets([Dataset.range(1)], weights=[1.0, 2.0])),
        (TypeError, lambda: Dataset.from_tensors(1.0).unique()),
        (
            TypeError,
            lambda: Dataset.choose_from_datasets([Dataset.range(1)], Dataset.from_tensors(1)),
        ),
        (
            TypeError,
            lambda: Dataset.sample_from_datasets([Dataset.range(1), Dataset.from_tensors("a")]),
        ),
    ],
)
def test_invalid_arguments_raise(error, make):
    with pytest.raises(error):
        make()
