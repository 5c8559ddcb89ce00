"""Saved datasets, snapshots and cache files that are damaged or lie."""

import json

import pytest

import gradtape as tf
from gradtape.files.tfrecord import RecordWriter, read_records

Dataset = tf.data.Dataset
SPEC = {"tensor": [[], "int64"]}
GOOD = b'{"dtype": "int64", "shape": []}\n' + bytes(8)


@pytest.fixture
def saved(tmp_path):
    Dataset.range(3).save(str(tmp_path))
    return tmp_path


def describe(saved, about):
    text = about if isinstance(about, bytes) else json.dumps(about).encode()
    (saved / "spec.json").write_bytes(text)


def write_records(path, records):
    writer = RecordWriter(path)
    for record in records:
        writer.write(record)
    writer.close()


@pytest.mark.parametrize(
    "about",
    [
        b"",
        b"\xff\xfe{",
        b"[" * 100_000,
        b'{"size": 3, "spec": ' + b'{"tuple": [' * 900 + b"]}" * 900 + b"}",
        [],
        {},
        {"spec": SPEC},
        {"spec": SPEC, "size": "3"},
        {"spec": SPEC, "size": True},
        {"spec": SPEC, "size": 10**30},
        {"spec": SPEC, "size": 100},
        {"spec": None, "size": 3},
        {"spec": {"other": 1}, "size": 3},
        {"spec": {"dict": []}, "size": 3},
        {"spec": {"tuple": {}}, "size": 3},
        {"spec": {"tensor": []}, "size": 3},
        {"spec": {"tensor": [[-1], "int64"]}, "size": 3},
        {"spec": {"tensor": [[1.5], "int64"]}, "size": 3},
        {"spec": {"tensor": [[1 << 40, 1 << 40], "int64"]}, "size": 3},
        {"spec": {"tensor": [[1] * 100, "int64"]}, "size": 3},
        {"spec": {"tensor": ["ab", "int64"]}, "size": 3},
        {"spec": {"tensor": [[], "nothing"]}, "size": 3},
        {"spec": {"tensor": [[], "resource"]}, "size": 3},
        {"spec": {"tensor": [[], 7]}, "size": 3},
    ],
)
def test_a_wrong_description_is_data_loss(saved, about):
    describe(saved, about)
    with pytest.raises(tf.errors.DataLossError, match="corrupt"):
        Dataset.load(str(saved))


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\n",
        b"\xff\n",
        b"[]\n",
        b"{}\n",
        b"[" * 100_000,
        b'{"dtype": null}\n',
        b'{"dtype": "int64"}\n' + bytes(8),
        b'{"dtype": "int64", "shape": [1]}\n' + bytes(8),
        b'{"dtype": "int64", "shape": [-1]}\n' + bytes(8),
        b'{"dtype": "int64", "shape": 3}\n' + bytes(8),
        b'{"dtype": "int64", "shape": [1e0]}\n' + bytes(8),
        b'{"dtype": "int64", "shape": []}\n' + bytes(7),
        b'{"dtype": "int64", "shape": []}\n' + bytes(16),
        b'{"dtype": "int32", "shape": []}\n' + bytes(4),
        b'{"dtype": "variant", "shape": []}\n',
        b'{"dtype": "string", "shape": [], "lengths": [3]}\nabc',
    ],
)
def test_a_wrong_component_is_data_loss(saved, record):
    write_records(saved / "elements.tfrecord", [GOOD, GOOD, record])
    describe(saved, {"spec": SPEC, "size": 3})
    with pytest.raises(tf.errors.DataLossError, match="corrupt"):
        list(Dataset.load(str(saved)))


@pytest.mark.parametrize(
    "lengths", ["[1]", "[-1, 4]", "[1, 2, 3]", "3", "null", "[true, 2]", "[9, 9]"]
)
def test_wrong_lengths_of_strings_are_data_loss(saved, lengths):
    record = b'{"dtype": "string", "shape": [2], "lengths": %s}\nabc' % lengths.encode()
    write_records(saved / "elements.tfrecord", [record])
    describe(saved, {"spec": {"tensor": [[2], "string"]}, "size": 1})
    with pytest.raises(tf.errors.DataLossError, match="corrupt"):
        list(Dataset.load(str(saved)))


def test_missing_elements_are_data_loss(saved):
    file = saved / "elements.tfrecord"
    records = list(read_records(file))
    for kept in (records[:-1], records * 2, []):
        write_records(file, kept)
        with pytest.raises(tf.errors.DataLossError, match="corrupt"):
            list(Dataset.load(str(saved)))
    file.unlink()
    with pytest.raises(tf.errors.NotFoundError):
        list(Dataset.load(str(saved)))


def test_an_unknown_number_of_elements_is_not_checked(tmp_path):
    dataset = Dataset.range(6).filter(lambda x: x % 2 == 0)
    dataset.save(str(tmp_path))
    loaded = Dataset.load(str(tmp_path))
    assert [x.numpy() for x in loaded] == [0, 2, 4]
    assert loaded.cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY


@pytest.mark.parametrize(
    "names",
    [b"", b"\xff", b"3", b"[1]", b'"ab"', b'["../other"]', b'["/etc/passwd"]', b"[" * 99_999],
)
def test_a_wrong_list_of_snapshot_files_is_data_loss(tmp_path, names):
    dataset = Dataset.range(3)
    list(dataset.snapshot(str(tmp_path)))
    (folder,) = tmp_path.iterdir()
    (folder / "complete.json").write_bytes(names)
    with pytest.raises(tf.errors.DataLossError, match="corrupt"):
        list(dataset.snapshot(str(tmp_path)))


def test_a_missing_snapshot_file_is_not_found(tmp_path):
    dataset = Dataset.range(3)
    list(dataset.snapshot(str(tmp_path)))
    (folder,) = tmp_path.iterdir()
    for names in (b'["gone"]', b'["a\\u0000b"]'):
        (folder / "complete.json").write_bytes(names)
        with pytest.raises(tf.errors.NotFoundError):
            list(dataset.snapshot(str(tmp_path)))


def test_elements_of_another_dataset_in_a_cache_file_are_data_loss(tmp_path):
    path = str(tmp_path / "cache")
    list(Dataset.range(3).cache(path))
    with pytest.raises(tf.errors.DataLossError, match="corrupt"):
        list(Dataset.from_tensor_slices([1.5, 2.5]).cache(path))
