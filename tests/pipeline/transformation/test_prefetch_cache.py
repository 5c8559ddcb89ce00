"""Caches, snapshots, saved datasets and file datasets."""

import gzip

import numpy as np
import pytest

import gradtape as tf
from gradtape.files.tfrecord import RecordWriter

Dataset = tf.data.Dataset


def counted(calls):
    def numbers():
        calls.append(1)
        yield from range(4)

    return Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))


def listed(dataset):
    return [np.asarray(element.numpy()).tolist() for element in dataset]


def test_only_a_complete_iteration_is_cached(tmp_path):
    for place in ("", str(tmp_path / "kept")):
        calls = []
        dataset = counted(calls).cache(place)
        assert next(iter(dataset)) == 0
        assert listed(dataset) == listed(dataset) == [0, 1, 2, 3]
        assert len(calls) == 2
    again = counted(calls).cache(str(tmp_path / "kept"))
    assert listed(again) == [0, 1, 2, 3]
    assert len(calls) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["kept.elements.tfrecord"]


STRUCTURE = {
    "words": [["a", "bc"], ["", "d"]],
    "half": tf.constant([1.5, 2.5], tf.bfloat16),
    "more": (np.arange(4).reshape(2, 2), [True, False]),
}


def test_a_saved_dataset_can_be_loaded(tmp_path):
    dataset = Dataset.from_tensor_slices(STRUCTURE)
    dataset.save(str(tmp_path / "all"))
    loaded = Dataset.load(str(tmp_path / "all"))
    assert loaded.element_spec == dataset.element_spec
    assert len(loaded) == 2
    for a, b in zip(dataset, loaded, strict=True):
        for p, q in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
            assert p.dtype == q.dtype
            np.testing.assert_array_equal(p.numpy(), q.numpy())
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(str(tmp_path / "nothing"))


def test_a_corrupt_file_raises(tmp_path):
    Dataset.range(20).save(str(tmp_path))
    file = tmp_path / "elements.tfrecord"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(tf.errors.DataLossError):
        list(Dataset.load(str(tmp_path)))


def test_lines_records_and_fixed_lengths(tmp_path):
    for name, text in (("a.txt", "one\ntwo\n"), ("b.txt", "three\r\nfour")):
        (tmp_path / name).write_bytes(text.encode())
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    lines = tf.data.TextLineDataset(names)
    assert isinstance(lines, Dataset)
    assert lines.element_spec == tf.TensorSpec((), tf.string)
    assert listed(lines) == listed(lines) == [b"one", b"two", b"three", b"four"]
    turns = tf.data.TextLineDataset(names, num_parallel_reads=2)
    assert listed(turns) == [b"one", b"three", b"two", b"four"]
    assert listed(tf.data.TextLineDataset(Dataset.from_tensor_slices(names)).skip(3)) == [b"four"]
    with gzip.open(tmp_path / "c.gz", "wb") as file:
        file.write(b"five\n")
    assert listed(tf.data.TextLineDataset(str(tmp_path / "c.gz"), "GZIP")) == [b"five"]
    writer = RecordWriter(str(tmp_path / "d.tfrecord"))
    for record in (b"x", b"", b"yz"):
        writer.write(record)
    writer.close()
    records = tf.data.TFRecordDataset(str(tmp_path / "d.tfrecord"))
    assert listed(records.batch(3)) == [[b"x", b"", b"yz"]]
    (tmp_path / "e.bin").write_bytes(b"HaabbccF")
    fixed = tf.data.FixedLengthRecordDataset(str(tmp_path / "e.bin"), 2, 1, 1)
    assert listed(fixed) == [b"aa", b"bb", b"cc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Excess"):
        list(tf.data.FixedLengthRecordDataset(str(tmp_path / "e.bin"), 5))
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.data.TextLineDataset(str(tmp_path / "missing")))
    with pytest.raises(TypeError):
        tf.data.TextLineDataset(3)


def test_names_of_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).touch()
    found = Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    assert listed(found) == [str(tmp_path / n).encode() for n in ("a.txt", "b.txt")]
    assert sorted(listed(Dataset.list_files([str(tmp_path / "*")], seed=1))) == sorted(
        str(tmp_path / n).encode() for n in ("a.txt", "b.txt", "c.csv")
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        Dataset.list_files(str(tmp_path / "*.png"))


def test_a_snapshot_is_written_once_and_read_afterwards(tmp_path):
    calls = []
    path = str(tmp_path / "snap")
    dataset = counted(calls).snapshot(path)
    assert next(iter(dataset)) == 0  # not complete
    assert listed(dataset) == listed(dataset) == [0, 1, 2, 3]
    assert listed(counted(calls).snapshot(path)) == [0, 1, 2, 3]
    assert len(calls) == 2
    assert listed(Dataset.range(2).snapshot(path)) == [0, 1]  # another number of elements
    structured = Dataset.from_tensor_slices(STRUCTURE).snapshot(path)
    for a, b in zip(structured, structured, strict=True):
        for p, q in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
            np.testing.assert_array_equal(p.numpy(), q.numpy())


def test_a_snapshot_in_several_files(tmp_path):
    def snapshot(**how):
        return Dataset.range(9).snapshot(str(tmp_path), **how)

    assert listed(snapshot(shard_func=lambda x: x % 3)) == list(range(9))
    assert listed(snapshot()) == list(range(9))  # in turns
    assert listed(snapshot(reader_func=lambda files: files.flat_map(lambda one: one))) == [
        0, 3, 6, 1, 4, 7, 2, 5, 8,
    ]  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError, match="shard_func"):
        listed(Dataset.range(3).snapshot(str(tmp_path), shard_func=lambda x: x - 1))
    again = Dataset.range(9).apply(tf.data.experimental.snapshot(str(tmp_path)))
    assert listed(again) == list(range(9))
