"""The position of an iterator is saved in checkpoints and restored."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.files.tensor_bundle import BundleReader, write_bundle
from gradtape.pipeline.transformation.random_choice import random_words

Dataset = tf.data.Dataset
DATA = np.arange(60)


def words():
    return Dataset.from_generator(
        lambda: iter(range(40)), output_signature=tf.TensorSpec((), tf.int64)
    )


PIPELINES = {
    "range": lambda: Dataset.range(50),
    "batch": lambda: Dataset.from_tensor_slices(DATA).batch(4),
    "shuffle": lambda: Dataset.from_tensor_slices(DATA).shuffle(20),
    "shuffle, seeded": lambda: Dataset.from_tensor_slices(DATA).shuffle(20, seed=3),
    "shuffle, always the same": lambda: Dataset.range(50).shuffle(9, 1, False).repeat(2),
    "shuffle, repeat": lambda: Dataset.range(8).shuffle(8).repeat(9).batch(3),
    "shuffle, map, batch, prefetch": lambda: (
        Dataset.from_tensor_slices((DATA, DATA)).shuffle(20).map(lambda a, b: a - 2 * b).batch(2)
        .prefetch(tf.data.AUTOTUNE)
    ),
    "two shuffles": lambda: Dataset.range(50).shuffle(50).batch(2).shuffle(10).unbatch(),
    "prefetch": lambda: words().prefetch(5).map(lambda x: x + 1).prefetch(2),
    "parallel map": lambda: words().map(lambda x: x * x, num_parallel_calls=3),
    "interleave": lambda: Dataset.range(6).shuffle(6).interleave(
        lambda i: Dataset.range(9).map(lambda j: 10 * i + j), cycle_length=3, num_parallel_calls=2
    ),
    "flat_map": lambda: Dataset.range(6).shuffle(6).flat_map(lambda i: Dataset.range(i, 9)),
    "zip": lambda: Dataset.zip((Dataset.range(50).shuffle(9), words().shuffle(5))),
    "concatenate": lambda: Dataset.range(9).shuffle(9).concatenate(Dataset.range(40).shuffle(7)),
    "cache": lambda: words().shuffle(9).cache().shuffle(8),
    "window": lambda: Dataset.range(50).shuffle(50).window(3, 1).flat_map(lambda w: w.batch(3)),
    "group_by_window": lambda: Dataset.range(50).shuffle(50).group_by_window(
        lambda x: x % 3, lambda k, d: d.batch(2), 2
    ),
    "filter, scan": lambda: Dataset.range(90).shuffle(90).filter(lambda x: x % 3 > 0).scan(
        np.int64(0), lambda s, x: (s + x, s)
    ),
    "sample": lambda: Dataset.sample_from_datasets([Dataset.range(40), words()], [0.3, 0.7]),
    "choose": lambda: Dataset.choose_from_datasets(
        [Dataset.range(40).shuffle(5), words()], Dataset.range(2).shuffle(2).repeat(20)
    ),
    "random": lambda: Dataset.random(rerandomize_each_iteration=True).take(50),
    "options, skip, take": lambda: (
        Dataset.range(90).shuffle(90).skip(3).take(50).with_options(tf.data.Options()).enumerate()
    ),
}  # fmt: skip


def rest(iterator):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), e) for e in iterator]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_restored_iterator_continues_at_the_saved_position(name, tmp_path):
    dataset = PIPELINES[name]()
    rest(dataset)  # an earlier iteration
    saved = iter(dataset)
    for _ in range(7):
        next(saved)
    path = tf.train.Checkpoint(iterator=saved).save(str(tmp_path / "at"))
    after = rest(saved)
    assert len(after) > 3

    tf.train.Checkpoint(iterator=saved).restore(path)
    assert rest(saved) == after

    tf.random.set_seed(5)  # another process, which has other seeds
    fresh = iter(PIPELINES[name]())
    tf.train.Checkpoint(iterator=fresh).restore(path)
    assert rest(fresh) == after

    ahead = iter(PIPELINES[name]())
    for _ in range(9):
        next(ahead)
    tf.train.Checkpoint(iterator=ahead).restore(path)
    assert rest(ahead) == after


def test_iterations_after_a_restored_one_are_reproduced(tmp_path):
    dataset = Dataset.range(20).shuffle(20)
    saved = iter(dataset)
    next(saved)
    path = tf.train.Checkpoint(iterator=saved).save(str(tmp_path / "at"))
    later = rest(dataset)
    again = Dataset.range(20).shuffle(20)
    tf.train.Checkpoint(iterator=iter(again)).restore(path)
    assert rest(again) == later


def test_restoring_an_iterator_of_another_pipeline_raises(tmp_path):
    path = tf.train.Checkpoint(iterator=iter(Dataset.range(9))).save(str(tmp_path / "at"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="random orders"):
        tf.train.Checkpoint(iterator=iter(Dataset.range(9).shuffle(2))).restore(path)


def restore_state(tmp_path, dataset, numbers):
    """Restore an iterator from a checkpoint with these numbers in place of its state."""
    path = tf.train.Checkpoint(v=tf.Variable(1.0), iterator=iter(dataset)).write(
        str(tmp_path / "at")
    )
    reader = BundleReader(path)
    tensors = {key: reader.read(key) for key in reader.entries}
    key = next(key for key in tensors if key.endswith("ITERATOR"))
    write_bundle(path, {**tensors, key: np.array(numbers, np.int64)})
    iterator, v = iter(dataset), tf.Variable(2.0)
    try:
        tf.train.Checkpoint(v=v, iterator=iterator).read(path)
    except tf.errors.InvalidArgumentError:
        assert v.numpy() == 2  # nothing was restored
        raise
    return iterator


@pytest.mark.parametrize("numbers", [[], [1], [1, 2, 3], [-1, 1, 1, 1], [1, 1, 1, -1], [1] * 7])
def test_a_state_that_no_iterator_can_have_changes_nothing(tmp_path, numbers):
    with pytest.raises(tf.errors.InvalidArgumentError, match="random orders"):
        restore_state(tmp_path, Dataset.range(9).shuffle(2), numbers)


def test_a_state_behind_the_end_is_the_end(tmp_path):
    assert rest(restore_state(tmp_path, Dataset.range(5), [2**60])) == []


def test_a_late_iteration_starts_at_once(tmp_path):
    restored = restore_state(tmp_path, Dataset.range(5).shuffle(5), [0, -1, -1, 2**62])
    assert sorted(rest(restored)) == [0, 1, 2, 3, 4]


def test_skipped_random_words_are_those_that_follow():
    words = [next(drawn) for drawn in [random_words(3, 4)] for _ in range(3000)]
    for skip in (0, 1, 1023, 1024, 1025, 2048):
        drawn = random_words(3, 4, skip)
        assert [next(drawn) for _ in range(500)] == words[skip : skip + 500]
