"""Rejection resampling and sampling with changing weights make TensorFlow's choices."""

import pytest

import gradtape as tf

Dataset = tf.data.Dataset


@pytest.mark.parametrize(
    ("seeds", "initial", "target", "classes"),
    [
        ((7, 5), None, [0.5, 0.5], 0x5564CD347750D216454C3A42AEE34852),
        ((7, 5), [0.7, 0.3], [0.5, 0.5], 0x155B725F2D9A64A515434F0A49F),
        ((3, None), None, [0.9, 0.1], 0x80021080000100000080080),
        ((1, 2), [0.2, 0.8], [0.9, 0.1], 0x20000000002000010000),
        ((1, 2), [0.7, 0.3], [0.0, 1.0], 0x7FFFFFFF),
    ],
)
def test_the_choice_is_that_of_tensorflow(seeds, initial, target, classes):
    tf.random.set_seed(seeds[0])
    dataset = Dataset.from_tensor_slices([0, 0, 0, 1, 0, 1, 0, 0, 1, 0] * 10)
    dataset = dataset.rejection_resample(lambda x: x, target, initial, seed=seeds[1])
    expected = [int(bit) for bit in f"{classes:b}"[1:]]  # what TensorFlow 2.21 gives, after a 1
    for _ in range(2):
        pairs = list(dataset)
        assert [int(c) for c, _ in pairs] == expected
        assert all(int(c) == int(x) for c, x in pairs)


def test_elements_of_several_components_stay_together():
    data = {"x": list(range(20)), "c": [0, 1] * 10}
    dataset = Dataset.from_tensor_slices(data)
    dataset = dataset.rejection_resample(lambda e: e["c"], [1.0, 0.0], [0.5, 0.5], seed=1)
    assert all(int(c) == int(e["x"]) % 2 == 0 for c, e in dataset)
    pairs = Dataset.from_tensor_slices(([1, 2, 3], [0, 1, 0]))
    same = pairs.rejection_resample(lambda x, c: c, [0.5, 0.5], [0.5, 0.5])
    assert [(int(c), int(x)) for c, (x, _) in same] == [(0, 1), (1, 2), (0, 3)]
    with pytest.raises(ValueError, match="the same shape"):
        pairs.rejection_resample(lambda x, c: c, [0.5, 0.5], [0.2, 0.3, 0.5])


def test_weights_may_change_from_choice_to_choice():
    weights = Dataset.from_tensor_slices([[0.1, 0.9], [0.9, 0.1], [0.5, 0.5]]).repeat(4)
    tf.random.set_seed(3)
    both = [Dataset.range(20), Dataset.range(100, 120)]
    mixed = Dataset.sample_from_datasets(both, weights, seed=3)
    assert [int(x) for x in mixed] == [100, 0, 101, 102, 1, 2, 103, 3, 4, 104, 5, 105]


def test_seeded_random_ops_restart_with_every_iterator():
    tf.random.set_seed(3)
    dataset = Dataset.range(3).map(lambda x: tf.random.uniform([], seed=5))
    first = [float(x) for x in dataset]
    assert first == pytest.approx([0.3977, 0.9253, 0.9487], abs=1e-4)  # as TensorFlow
    assert [float(x) for x in dataset] == first
    twice = [float(x) for x in dataset.repeat(2)]
    assert twice[:3] == first
    assert twice[3:] == pytest.approx([0.3152, 0.7355, 0.1366], abs=1e-4)
    kept = Dataset.range(6).filter(lambda x: tf.random.uniform([], seed=5) < 0.5)
    assert [int(x) for x in kept] == [int(x) for x in kept] == [0, 3, 5]


def test_unseeded_random_ops_draw_new_numbers_in_each_iteration():
    tf.random.set_seed(None)
    dataset = Dataset.range(8).map(lambda x: tf.random.uniform([]))
    assert [float(x) for x in dataset] != [float(x) for x in dataset]
