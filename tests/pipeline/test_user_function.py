"""Functions of elements are traced: Python code runs once, traced ops for every element."""

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


@pytest.fixture
def calls():
    return []


def listed(dataset):
    return [np.asarray(element).tolist() for element in dataset.as_numpy_iterator()]


def noting(calls, function):
    def traced(*args):
        calls.append(1)
        return function(*args)

    return traced


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda note: Dataset.range(6).filter(note(lambda x: x % 2 == 0)), [0, 2, 4]),
        (lambda note: Dataset.range(6).take_while(note(lambda x: x < 3)), [0, 1, 2]),
        (
            lambda note: Dataset.range(5).scan(np.int64(0), note(lambda s, x: (s + x, s))),
            [0, 0, 1, 3, 6],
        ),
        (
            lambda note: Dataset.range(5).scan(
                (np.int64(0), np.int64(1)), note(lambda s, x: ((s[1], s[0] + s[1]), s[0]))
            ),
            [0, 1, 1, 2, 3],
        ),
        (
            lambda note: Dataset.range(6).group_by_window(
                note(lambda x: x % 2), lambda k, d: d.batch(3), 3
            ),
            [[0, 2, 4], [1, 3, 5]],
        ),
        (
            lambda note: Dataset.range(6).group_by_window(
                lambda x: x % 2, lambda k, d: d.batch(3), window_size_func=note(lambda k: k + 2)
            ),
            [[0, 2], [1, 3, 5], [4]],
        ),
        (
            lambda note: Dataset.range(6).bucket_by_sequence_length(
                note(lambda x: x), [3], [2, 3], no_padding=True
            ),
            [[0, 1], [3, 4, 5], [2]],
        ),
    ],
)
def test_the_python_code_runs_once(make, expected, calls):
    dataset = make(lambda function: noting(calls, function))
    assert listed(dataset) == listed(dataset) == expected
    assert len(calls) == 1


def test_reduce_runs_its_python_code_once_for_each_shape_of_the_state(calls):
    add = noting(calls, lambda s, x: s + x)
    assert int(Dataset.range(10).reduce(np.int64(0), add)) == 45
    assert len(calls) == 1
    pairs = Dataset.zip((Dataset.range(4), Dataset.range(4)))
    assert int(pairs.reduce(np.int64(0), lambda s, x: s + x[0] * x[1])) == 14
    longer = Dataset.range(4).reduce(
        np.zeros(0, np.int64), lambda s, x: tf.concat([s, [x]], axis=0)
    )
    assert longer.numpy().tolist() == [0, 1, 2, 3]


def test_effects_happen_for_every_element(capfd):
    count = tf.Variable(0, dtype=tf.int64)

    def late(x):
        tf.print("seen", x)
        return count.assign_add(1) > 2

    assert listed(Dataset.range(4).filter(late)) == [2, 3]
    assert int(count) == 4
    assert capfd.readouterr().err.split("\n")[:4] == [f"seen {i}" for i in range(4)]


def test_python_branches_on_values_take_both_paths():
    dataset = Dataset.range(6).filter(lambda x: tf.constant(True) if x > 3 else tf.constant(False))
    assert listed(dataset) == [4, 5]


def test_errors_name_the_element():
    def checked(x):
        tf.debugging.assert_less(x, np.int64(2))
        return x >= 0

    iterator = iter(Dataset.range(4).filter(checked))
    assert [int(next(iterator)), int(next(iterator))] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        next(iterator)
    assert "element 2" in caught.value.__notes__[0]


def test_predicates_return_bool_and_keys_int64():
    with pytest.raises(ValueError, match=r"tf.bool.*tf.int64"):
        listed(Dataset.range(3).filter(lambda x: x))
    with pytest.raises(ValueError, match=r"key_func.*tf.int64"):
        listed(Dataset.range(3).group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, d: d, 2))


def test_elements_of_every_structure():
    data = {"a": [1, 2, 3], "b": (["x", "y", "z"], [0.5, 1.5, 2.5])}
    dataset = Dataset.from_tensor_slices(data).filter(lambda e: e["b"][0] != "y")
    assert [int(e["a"]) for e in dataset] == [1, 3]
    mapped = dataset.map(lambda e: ({"k": e["b"][1] * 2}, [e["a"], e["a"]]))
    assert [e[0]["k"].numpy() for e in mapped] == [1.0, 5.0]
    assert mapped.element_spec[1].shape == (2,)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda d: d, "_RangeDataset"),
        (lambda d: d.map(lambda x: x), "_MapDataset"),
        (lambda d: d.map(lambda x: x, 2), "_ParallelMapDataset"),
        (lambda d: d.batch(2), "_BatchDataset"),
        (lambda d: d.shuffle(2), "_ShuffleDataset"),
        (lambda d: d.prefetch(2), "_PrefetchDataset"),
        (lambda d: d.cache(), "CacheDataset"),
        (lambda d: d.enumerate(), "_ZipDataset"),
        (lambda d: d.filter(lambda x: x > 0), "_FilterDataset"),
        (lambda d: tf.data.TextLineDataset("nowhere"), "TextLineDatasetV2"),
        (lambda d: d.interleave(lambda x: d, 2), "_InterleaveDataset"),
    ],
)
def test_datasets_have_tensorflows_class_names(make, name):
    dataset = make(Dataset.range(3))
    assert repr(dataset) == f"<{name} element_spec={dataset.element_spec}>"
