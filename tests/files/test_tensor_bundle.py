"""Checkpoint files: round trips, atomic writes, and detection of damage."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import dtypes
from gradtape.core.errors import DataLossError, NotFoundError, UnimplementedError
from gradtape.files import tensor_bundle

TENSORS = {
    "scalar": np.float32(1.5),
    "matrix": np.arange(6, dtype=np.int64).reshape(2, 3),
    "empty": np.zeros((0, 3), np.float64),
    "half": np.arange(4).astype(dtypes.bfloat16.as_numpy_dtype),
    "flag": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "text": np.array([b"x", b"", b"y" * 300], object),
    "strided": np.arange(12.0).reshape(3, 4).T,
}


def write_bundle(path, tensors=TENSORS):
    tensor_bundle.write_bundle(path, tensors)
    return path


def test_written_tensors_are_read_back(tmp_path):
    reader = tensor_bundle.BundleReader(write_bundle(tmp_path / "a"))
    assert sorted(reader.entries) == sorted(TENSORS)
    for key, value in TENSORS.items():
        found = reader.read(key)
        assert found.dtype == np.asarray(value).dtype
        assert reader.shape(key) == found.shape == np.asarray(value).shape
        np.testing.assert_array_equal(found, value)


def test_files_have_tensorflows_names(tmp_path):
    write_bundle(tmp_path / "a")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a.data-00000-of-00001", "a.index"]


def test_replacing_a_checkpoint_leaves_two_files(tmp_path):
    for n in range(4):
        write_bundle(tmp_path / "a", {"n": np.int64(n)})
        assert tensor_bundle.BundleReader(tmp_path / "a").read("n") == n
        assert len(list(tmp_path.iterdir())) == 2


def test_a_failed_write_keeps_the_old_checkpoint(tmp_path):
    write_bundle(tmp_path / "a", {"n": np.int64(1)})
    with pytest.raises(TypeError):
        write_bundle(tmp_path / "a", {"n": np.int64(2), "no": np.zeros(2, "M8[D]")})
    assert tensor_bundle.BundleReader(tmp_path / "a").read("n") == 1
    assert len(list(tmp_path.iterdir())) == 2


def test_a_missing_checkpoint_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="Failed to find any matching files"):
        tensor_bundle.BundleReader(tmp_path / "none")


def test_a_missing_tensor_is_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="Key none not found in checkpoint"):
        tensor_bundle.BundleReader(write_bundle(tmp_path / "a")).read("none")


def damage(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


def error_of(reader, key):
    """The error message of reading a tensor, or None."""
    try:
        reader.read(key)
    except DataLossError as error:
        return str(error)


def test_every_flipped_byte_of_the_values_is_found(tmp_path):
    prefix = write_bundle(tmp_path / "a")
    file = tmp_path / "a.data-00000-of-00001"
    whole = file.read_bytes()
    reader = tensor_bundle.BundleReader(prefix)
    for at in range(len(whole)):
        damage(file, at)
        found = {key: text for key in TENSORS if (text := error_of(reader, key))}
        ((key, text),) = found.items()
        assert f"a.data-00000-of-00001: {key}, " in text
        file.write_bytes(whole)


def test_every_flipped_byte_of_the_index_is_found(tmp_path):
    prefix = write_bundle(tmp_path / "a")
    file = tmp_path / "a.index"
    whole = file.read_bytes()
    for at in range(len(whole)):
        damage(file, at)
        with pytest.raises(DataLossError, match=r"a\.index"):
            tensor_bundle.BundleReader(prefix)
        file.write_bytes(whole)


def test_truncated_values_are_found(tmp_path):
    prefix = write_bundle(tmp_path / "a", {"x": np.arange(10.0)})
    file = tmp_path / "a.data-00000-of-00001"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DataLossError, match="truncated: it has 79 bytes"):
        tensor_bundle.BundleReader(prefix).read("x")
    file.unlink()
    with pytest.raises(NotFoundError, match=r"a\.data-00000-of-00001"):
        tensor_bundle.BundleReader(prefix).read("x")


def rewrite_index(prefix, **changes):
    """Change an entry of the index, and update the checksums."""
    from gradtape.files import leveldb_table

    index = prefix.with_name(prefix.name + ".index")
    entries = dict(leveldb_table.read_table(index.read_bytes(), "index"))
    entry = tensor_bundle.Entry.FromString(entries[b"x"])
    for name, value in changes.items():
        setattr(entry, name, value)
    entries[b"x"] = entry.SerializeToString()
    index.write_bytes(b"".join(leveldb_table.serialize_table(sorted(entries.items()))))


@pytest.mark.parametrize(
    "changes",
    [{"size": -1}, {"offset": 1 << 60}, {"shard_id": 7}, {"offset": -4}, {"size": 8}],
)
def test_an_index_with_invalid_positions_is_refused(tmp_path, changes):
    prefix = write_bundle(tmp_path / "a", {"x": np.arange(10.0)})
    rewrite_index(prefix, **changes)
    with pytest.raises(DataLossError, match="x, "):
        tensor_bundle.BundleReader(prefix).read("x")


def test_an_impossible_shape_is_refused(tmp_path):
    prefix = write_bundle(tmp_path / "a", {"x": np.zeros((2, 2))})
    reader = tensor_bundle.BundleReader(prefix)
    for dim in reader.entries["x"].shape.dim:
        dim.size = 1 << 62
    with pytest.raises(DataLossError, match="shape"):
        reader.read("x")


def test_types_that_numpy_lacks_are_refused(tmp_path):
    prefix = write_bundle(tmp_path / "a", {"x": np.zeros((2, 2))})
    for number in (dtypes.variant.as_datatype_enum, 99):
        rewrite_index(prefix, dtype=number)
        with pytest.raises(UnimplementedError, match="x has a type"):
            tensor_bundle.BundleReader(prefix).read("x")


def test_a_prefix_with_a_corrupt_index_can_be_written_over(tmp_path):
    prefix = write_bundle(tmp_path / "a")
    (tmp_path / "a.index").write_bytes(b"junk")
    write_bundle(prefix, {"n": np.int64(3)})
    assert tensor_bundle.BundleReader(prefix).read("n") == 3


def test_shapes_and_dtypes_of_a_corrupt_index_are_refused(tmp_path):
    prefix = write_bundle(tmp_path / "a", {"x": np.zeros((2, 2))})
    rewrite_index(prefix, dtype=99)
    reader = tf.train.load_checkpoint(prefix)
    with pytest.raises(UnimplementedError, match="number 99"):
        reader.get_variable_to_dtype_map()
    for sizes in ([-1], [1] * 99, [1 << 62, 1 << 62], [0, 1 << 62, 1 << 62]):
        entry = reader._reader.entries["x"]
        entry.shape.Clear()
        for size in sizes:
            entry.shape.dim.add(size=size)
        with pytest.raises(DataLossError, match="shape"):
            reader.get_variable_to_shape_map()
        with pytest.raises(DataLossError, match="shape"):
            reader.get_tensor("x")


def test_a_key_that_is_not_utf8_can_be_printed(tmp_path):
    prefix = write_bundle(tmp_path / "a", {"x": np.zeros(2)})
    reader = tensor_bundle.BundleReader(prefix)
    key = b"\xff".decode("utf-8", "surrogateescape")
    with pytest.raises(NotFoundError, match=r"Key \\xff not found"):
        reader.read(key)
