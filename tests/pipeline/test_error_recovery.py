"""Pipelines after errors, at their end, and with unusual arguments."""

import pathlib

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


def finite(x):
    return tf.debugging.check_numerics(x, "not finite")


def drawn(dataset):
    """Elements as lists; for a failing element, the name of the error."""
    iterator, found = iter(dataset), []
    while True:
        try:
            found.append(tf.nest.map_structure(lambda t: np.asarray(t).tolist(), next(iterator)))
        except StopIteration:
            return found
        except tf.errors.OpError as error:
            found.append(type(error).__name__)


@pytest.mark.parametrize(("width", "block"), [(1, 1), (2, 1), (2, 3), (3, 2)])
def test_interleave_continues_after_a_failing_element(width, block):
    numbers = Dataset.from_tensor_slices([1.0, np.nan, 2.0, np.nan, 3.0]).map(finite)
    found = drawn(numbers.interleave(Dataset.from_tensors, width, block))
    assert found == [1.0, "InvalidArgumentError", 2.0, "InvalidArgumentError", 3.0]


def test_a_generator_continues_after_a_mismatched_element():
    found = drawn(Dataset.from_generator(lambda: iter([1, "two", 3]), output_types=tf.int64))
    assert found == [1, "InvalidArgumentError", 3]


def test_a_cache_is_complete_with_the_last_element():
    dataset = Dataset.range(10).shuffle(10).cache()
    iterator = iter(dataset)
    first = [int(next(iterator)) for _ in range(10)]  # does not read the end of the dataset
    assert [int(x) for x in dataset] == first


def test_numpy_iterators_are_saved_in_checkpoints(tmp_path):
    iterator = Dataset.range(5).as_numpy_iterator()
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    assert next(iterator) == 0
    path = checkpoint.save(str(tmp_path / "at"))
    assert [next(iterator), next(iterator)] == [1, 2]
    checkpoint.restore(path)
    assert list(iterator) == [1, 2, 3, 4]


def test_zip_keeps_its_datasets_in_step_when_one_fails():
    numbers = Dataset.from_tensor_slices([1.0, 2.0, np.nan, 4.0])
    places = Dataset.range(4).shuffle(1)
    found = drawn(Dataset.zip((numbers.map(finite), places)))
    assert found == [(1.0, 0), (2.0, 1), "InvalidArgumentError", (4.0, 3)]


def test_rebatch_to_nothing_gives_empty_batches():
    batches = Dataset.range(8).batch(4)
    found = drawn(batches.rebatch([1, 1, 1, 1, 0]))
    assert found == [[0], [1], [2], [3], [], [4], [5], [6], [7], []]
    assert drawn(Dataset.range(6).batch(4).rebatch([2, 0, 3])) == [[0, 1], [], [2, 3, 4], [5]]
    dropping = Dataset.range(6).batch(4).rebatch([4, 0], drop_remainder=True)
    assert drawn(dropping) == [[0, 1, 2, 3], []]
    with pytest.raises(tf.errors.InvalidArgumentError):
        batches.rebatch([2, -1])


@pytest.mark.parametrize(("size", "sizes", "width"), [(4, 2, 2), (6, [3, 3], 3), (4, 3, None)])
def test_rebatch_knows_the_size_of_batches_that_divide_the_old_ones(size, sizes, width):
    batches = Dataset.range(12).batch(size, drop_remainder=True)
    assert batches.rebatch(sizes).element_spec.shape.as_list() == [width]
    assert Dataset.range(12).batch(size).rebatch(sizes).element_spec.shape.as_list() == [None]


def test_keys_may_be_python_integers():
    dataset = Dataset.range(4).group_by_window(lambda x: 0, lambda key, group: group.batch(4), 4)
    assert drawn(dataset) == [[0, 1, 2, 3]]


def test_a_range_needs_a_step():
    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(2, 10, 0)


def test_choices_must_be_a_dataset():
    with pytest.raises(TypeError):
        Dataset.choose_from_datasets([Dataset.range(1), Dataset.range(1)], choice_dataset=None)


def test_files_may_be_named_by_path_objects(tmp_path):
    path = pathlib.Path(tmp_path) / "lines"
    path.write_text("ab\ncd\n")
    assert drawn(tf.data.TextLineDataset(path)) == [b"ab", b"cd"]
    assert drawn(tf.data.TextLineDataset([path, str(path)])) == [b"ab", b"cd"] * 2
    assert drawn(tf.data.FixedLengthRecordDataset(path, 3)) == [b"ab\n", b"cd\n"]


def test_the_options_of_a_dataset_are_read_only():
    options = tf.data.Options()
    options.deterministic = False
    dataset = Dataset.range(3).with_options(options)
    options.deterministic = True
    assert dataset.options().deterministic is False
    with pytest.raises(ValueError, match="with_options"):
        dataset.options().deterministic = True
    with pytest.raises(ValueError, match="with_options"):
        dataset.options().threading.private_threadpool_size = 1
    assert dataset.options() == Dataset.range(1).options().merge(dataset.options())
