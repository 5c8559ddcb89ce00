"""tf.io: files, TFRecords, Examples, images and serialized tensors."""

import gzip
import zlib

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
)
from gradtape.files import limit
from gradtape.files.tfrecord import read_records

gfile = tf.io.gfile


def example(**features):
    made = {}
    for name, values in features.items():
        if not values:
            made[name] = tf.train.Feature()
        elif isinstance(values[0], bytes):
            made[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        elif isinstance(values[0], float):
            made[name] = tf.train.Feature(float_list=tf.train.FloatList(value=values))
        else:
            made[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def fixed(*args, **kwargs):
    return tf.io.FixedLenFeature(*args, **kwargs)


# -- files


def test_files_and_directories(tmp_path):
    top = str(tmp_path / "a")
    gfile.makedirs(top + "/b")
    gfile.makedirs(top + "/b")
    gfile.mkdir(top)
    tf.io.write_file(top + "/new/f.txt", "text")
    assert tf.io.read_file(top + "/new/f.txt").numpy() == b"text"
    assert gfile.listdir(top) == ["b", "new"]
    assert gfile.glob(top + "/*/f*") == [top + "/new/f.txt"]
    assert gfile.glob([top + "/b", top + "/nothing*"]) == [top + "/b"]
    assert tf.io.matching_files(top + "/*").numpy().tolist() == [
        f"{top}/{n}".encode() for n in ("b", "new")
    ]
    assert gfile.exists(top)
    assert gfile.isdir(top)
    assert not gfile.isdir(top + "/new/f.txt")
    assert gfile.stat(top + "/new/f.txt").length == 4
    assert gfile.stat(top).is_directory
    assert list(gfile.walk(top)) == [
        (top, ["b", "new"], []),
        (top + "/b", [], []),
        (top + "/new", [], ["f.txt"]),
    ]
    gfile.copy(top + "/new/f.txt", top + "/g")
    with pytest.raises(AlreadyExistsError):
        gfile.copy(top + "/new/f.txt", top + "/g")
    gfile.copy(top + "/new/f.txt", top + "/g", overwrite=True)
    with pytest.raises(AlreadyExistsError):
        gfile.rename(top + "/g", top + "/b")
    gfile.rename(top + "/g", top + "/h")
    gfile.remove(top + "/h")
    gfile.rmtree(top)
    assert not gfile.exists(top)
    assert gfile.join("a", "b") == "a/b"


def test_file_errors_are_tensorflows(tmp_path):
    missing = str(tmp_path / "none")
    for call in (tf.io.read_file, gfile.listdir, gfile.remove, gfile.rmtree, gfile.stat):
        with pytest.raises(NotFoundError, match="none"):
            call(missing)
    with pytest.raises(NotFoundError):
        gfile.mkdir(missing + "/more")
    with pytest.raises(FailedPreconditionError, match="Is a directory"):
        gfile.remove(str(tmp_path))


def test_open_files(tmp_path):
    path = str(tmp_path / "f")
    with gfile.GFile(path, "w") as file:
        file.write("héllo\nworld\nlast")
    file = gfile.GFile(path)
    assert (file.name, file.mode, file.size()) == (path, "r", 17)
    assert file.read(3) == "hé"
    assert file.tell() == 3
    assert file.readline() == "llo\n"
    assert file.readlines() == ["world\n", "last"]
    file.seek(0)
    assert list(file) == ["héllo\n", "world\n", "last"]
    with pytest.raises(PermissionDeniedError, match="writing"):
        file.write("x")
    file.close()
    with gfile.GFile(path, "ab") as file:
        file.write(b"!")
        with pytest.raises(TypeError, match="binary or unicode"):
            file.write(3)
        with pytest.raises(PermissionDeniedError, match="reading"):
            file.read()
    with gfile.GFile(path, "rb") as file:
        file.seek(-2, 2)
        assert file.read() == b"t!"
    with pytest.raises(InvalidArgumentError, match="mode is not"):
        gfile.GFile(path, "q")
    lazy = gfile.GFile(path + "none")
    with pytest.raises(NotFoundError):
        lazy.read()


# -- records and examples


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records(tmp_path, compression):
    path = tmp_path / "r"
    options = tf.io.TFRecordOptions(compression, compression_level=9)
    with tf.io.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
        writer.flush()
        writer.write(tf.constant("two"))
        with pytest.raises(TypeError, match="must be bytes"):
            writer.write("text")
    assert list(read_records(path, compression)) == [b"one", b"two"]
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordWriter(path, "LZ4")


def test_features_of_one_example():
    text = example(i=[1, 2], f=[1.5], b=[b"x", b"yy"])
    found = tf.io.parse_single_example(
        text,
        {
            "i": fixed([2], tf.int64),
            "f": fixed([], tf.float32),
            "b": tf.io.VarLenFeature(tf.string),
            "z": fixed([2], tf.int64, default_value=[7, 8]),
            "many": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
        },
    )
    assert list(found) == ["b", "f", "i", "many", "z"]
    assert found["i"].numpy().tolist() == [1, 2]
    assert found["f"].numpy() == 1.5
    assert found["z"].numpy().tolist() == [7, 8]
    assert found["many"].shape == (0,)
    assert tf.sparse.to_dense(found["b"]).numpy().tolist() == [b"x", b"yy"]


def test_features_of_a_batch():
    texts = [example(i=[1, 2], b=[b"x"]), example(i=[3, 4, 5, 6])]
    found = tf.io.parse_example(
        texts,
        {
            "i": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=9),
            "b": tf.io.VarLenFeature(tf.string),
            "s": tf.io.SparseFeature("i", "i", tf.int64, 10),
        },
    )
    assert found["i"].numpy().tolist() == [[[1, 2], [9, 9]], [[3, 4], [5, 6]]]
    assert found["b"].dense_shape.numpy().tolist() == [2, 1]
    assert found["s"].indices.numpy().tolist() == [[0, 1], [0, 2], [1, 3], [1, 4], [1, 5], [1, 6]]


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ({"z": fixed([], tf.int64)}, InvalidArgumentError, "required but could not be found"),
        ({"i": fixed([3], tf.int64)}, InvalidArgumentError, "Values size: 2"),
        ({"i": fixed([2], tf.float32)}, InvalidArgumentError, "Data types don't match"),
        ({"i": fixed([2], tf.int32)}, InvalidArgumentError, "int64, float32 or string"),
        ({"i": fixed([None], tf.int64)}, ValueError, "FixedLenSequenceFeature"),
        ({"i": tf.io.FixedLenSequenceFeature([], tf.int64)}, ValueError, "allow_missing"),
        ({"i": fixed([2], tf.int64, default_value=1)}, InvalidArgumentError, "default value"),
        ({"i": 3}, ValueError, "Unsupported int"),
        ({}, ValueError, "empty"),
        (None, ValueError, "None"),
    ],
)
def test_features_that_do_not_match_are_an_error(features, error, message):
    with pytest.raises(error, match=message):
        tf.io.parse_single_example(example(i=[1, 2], empty=[]), features)


def test_input_that_is_not_an_example_is_an_error():
    with pytest.raises(InvalidArgumentError, match="Could not parse example input"):
        tf.io.parse_single_example(b"\xff\xff", {"i": fixed([], tf.int64)})
    with pytest.raises(ValueError, match="must be a scalar"):
        tf.io.parse_single_example([b""], {"i": fixed([], tf.int64)})


def test_examples_in_a_pipeline(tmp_path):
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        for n in range(4):
            writer.write(example(x=[float(n), n + 1.0], n=[n], s=[b"A%d" % n]))

    def parse(record):
        names = {
            "x": fixed([2], tf.float32),
            "n": fixed([], tf.int64),
            "s": fixed([], tf.string),
        }
        found = tf.io.parse_single_example(record, names)
        return found["x"] * 2, found["n"], tf.strings.lower(found["s"])

    dataset = tf.data.TFRecordDataset(path).map(parse).batch(2)
    assert [spec.shape.as_list() for spec in dataset.element_spec] == [[None, 2], [None], [None]]
    assert [spec.dtype.name for spec in dataset.element_spec] == ["float32", "int64", "string"]
    (x, n, s), second = dataset
    assert x.numpy().tolist() == [[0, 2], [2, 4]]
    assert n.numpy().tolist() == [0, 1]
    assert s.numpy().tolist() == [b"a0", b"a1"]
    assert second[2].numpy().tolist() == [b"a2", b"a3"]


# -- serialized tensors


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool", "string", "complex64"])
def test_serialized_tensors(dtype):
    values = {"string": [b"x", b""], "bool": [True, False]}.get(dtype, [1, 2])
    tensor = tf.constant([values], dtype)
    back = tf.io.parse_tensor(tf.io.serialize_tensor(tensor), dtype)
    assert back.dtype == tensor.dtype
    np.testing.assert_array_equal(back.numpy(), tensor.numpy())


def test_serialized_tensors_are_tensorflows_bytes():
    assert tf.io.serialize_tensor([[1.0, 2.0]]).numpy() == (
        b'\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'
    )


def test_wrong_serialized_tensors():
    text = tf.io.serialize_tensor([1.0])
    with pytest.raises(InvalidArgumentError, match="Type mismatch"):
        tf.io.parse_tensor(text, tf.int32)
    with pytest.raises(InvalidArgumentError, match="Could not parse"):
        tf.io.parse_tensor(b"junk", tf.int32)
    from gradtape.files.tensor_proto import TensorProto

    huge = TensorProto(dtype=1)
    huge.tensor_shape.dim.add(size=1 << 60)
    with pytest.raises(InvalidArgumentError, match="invalid shape"):
        tf.io.parse_tensor(huge.SerializeToString(), tf.float32)


def test_raw_bytes():
    assert tf.io.decode_raw([b"abcd", b"efgh"], tf.int16).numpy().tolist() == [
        [25185, 25699],
        [26213, 26727],
    ]
    assert tf.io.decode_raw(b"ab", tf.int16, little_endian=False).numpy().tolist() == [24930]
    assert tf.io.decode_raw([b"ab", b"abcdef"], tf.int16, fixed_length=4).shape == (2, 2)
    for texts, options in (([b"abc"], {}), ([b"ab", b"a"], {}), ([b"ab"], {"fixed_length": 3})):
        with pytest.raises(InvalidArgumentError, match="decode_raw"):
            tf.io.decode_raw(texts, tf.int16, **options)


def test_base64():
    assert tf.io.encode_base64(["a?>", "bc"]).numpy().tolist() == [b"YT8-", b"YmM"]
    assert tf.io.encode_base64("a", pad=True).numpy() == b"YQ=="
    assert tf.io.decode_base64(["YT8-", "YmM", "YQ=="]).numpy().tolist() == [b"a?>", b"bc", b"a"]
    for text in ("a!", "abcde"):
        with pytest.raises(InvalidArgumentError, match="base64"):
            tf.io.decode_base64(text)


def test_compressed_strings():
    texts = [zlib.compress(b"abc")]
    assert tf.io.decode_compressed(texts, "ZLIB").numpy().tolist() == [b"abc"]
    assert tf.io.decode_compressed(gzip.compress(b"abc"), "GZIP").numpy() == b"abc"
    with pytest.raises(DataLossError, match="decode_compressed"):
        tf.io.decode_compressed(b"abc", "GZIP")


def test_json_examples():
    text = '{"features": {"feature": {"a": {"int64List": {"value": [1]}}}}}'
    back = tf.train.Example.FromString(tf.io.decode_json_example(text).numpy())
    assert back.features.feature["a"].int64_list.value == [1]
    with pytest.raises(InvalidArgumentError, match="parsing JSON"):
        tf.io.decode_json_example("{")


def test_comma_separated_values():
    a, b, c = tf.io.decode_csv(["1,2.5,a", '3,,"b,""c"'], [[0], [1.5], [""]])
    assert a.numpy().tolist() == [1, 3]
    assert b.numpy().tolist() == [2.5, 1.5]
    assert c.numpy().tolist() == [b"a", b'b,"c']
    (only,) = tf.io.decode_csv("1;2;NA", [[9]], ";", select_cols=[2], na_value="NA")
    assert only.numpy() == 9
    for line, defaults in (("1,2", [[0]]), ("x", [[0]]), ("", [tf.constant([], tf.int32)])):
        with pytest.raises(InvalidArgumentError, match="decode_csv"):
            tf.io.decode_csv(line, defaults)


# -- images


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png(channels):
    array = np.random.default_rng(0).integers(0, 255, (6, 5, channels), np.uint8)
    text = tf.io.encode_png(array, compression=9)
    np.testing.assert_array_equal(tf.io.decode_png(text).numpy(), array)
    np.testing.assert_array_equal(tf.image.decode_image(text).numpy(), array)
    assert tf.io.decode_png(text, channels=3).shape == (6, 5, 3)


def test_png_of_16_bits():
    array = np.random.default_rng(0).integers(0, 65535, (6, 5, 1), np.uint16)
    text = tf.io.encode_png(array)
    np.testing.assert_array_equal(tf.io.decode_png(text, dtype=tf.uint16).numpy(), array)
    np.testing.assert_array_equal(tf.io.decode_png(text).numpy(), array >> 8)
    eight = tf.io.encode_png(np.full((1, 1, 1), 3, np.uint8))
    assert tf.io.decode_png(eight, dtype=tf.uint16).numpy().item() == 3 * 257


def test_jpeg():
    array = np.add.outer(np.arange(32) * 4, np.arange(16) * 4)[..., None].repeat(3, 2)
    text = tf.io.encode_jpeg(array.astype(np.uint8), quality=100)
    assert tf.io.is_jpeg(text).numpy()
    assert tf.io.extract_jpeg_shape(text).numpy().tolist() == [32, 16, 3]
    assert np.abs(tf.io.decode_jpeg(text).numpy().astype(int) - array).max() <= 3
    assert tf.io.decode_jpeg(text, channels=1).shape == (32, 16, 1)
    assert tf.io.decode_jpeg(text, ratio=2).shape == (16, 8, 3)
    assert tf.image.decode_and_crop_jpeg(text, [1, 2, 3, 4]).shape == (3, 4, 3)
    with pytest.raises(InvalidArgumentError, match="crop window"):
        tf.image.decode_and_crop_jpeg(text, [30, 2, 3, 4])


def test_encode_png_takes_a_batch():
    texts = tf.io.encode_png(np.zeros((2, 3, 4, 1), np.uint8))
    assert texts.shape == (2,)


def test_input_that_is_not_an_image_is_an_error():
    for decode in (tf.io.decode_png, tf.io.decode_jpeg, tf.io.decode_gif, tf.io.decode_image):
        with pytest.raises(InvalidArgumentError, match="Unknown image file format"):
            decode(b"junk")
    text = tf.io.encode_png(np.zeros((20, 20, 3), np.uint8)).numpy()
    with pytest.raises(InvalidArgumentError, match=r"Invalid PNG data|Unknown"):
        tf.io.decode_png(text[:40])
    with pytest.raises(InvalidArgumentError, match="channels"):
        tf.io.decode_png(text, channels=5)
    with pytest.raises(InvalidArgumentError, match="uint8 or uint16"):
        tf.io.encode_png(np.zeros((2, 2, 3), np.float32))


def test_images_in_a_function(tmp_path):
    path = str(tmp_path / "p.png")

    @tf.function
    def load(name):
        return tf.io.decode_png(tf.io.read_file(name))

    for size in (2, 3, 3, 2):
        tf.io.write_file(path, tf.io.encode_png(np.full((size, 2, 1), size, np.uint8)))
        assert load(tf.constant(path)).numpy().ravel().tolist() == [size] * 2 * size
    spec = tf.data.Dataset.from_tensors(path).map(load).element_spec
    assert spec.shape.as_list() == [None, None, None]


def test_damaged_compressed_strings():
    whole = gzip.compress(b"abc")
    assert tf.io.decode_compressed(whole + whole, "GZIP").numpy() == b"abcabc"
    assert tf.io.decode_compressed(zlib.compress(b"abc") + b"junk", "ZLIB").numpy() == b"abc"
    assert tf.io.decode_compressed(b"", "GZIP").numpy() == b""
    for text in (whole + b"junk", whole[:-3], whole[:-6] + bytes(6), whole[:1]):
        with pytest.raises(DataLossError, match="decode_compressed"):
            tf.io.decode_compressed(text, "GZIP")


def test_a_compressed_string_has_a_limit(monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 1000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    assert tf.io.decode_compressed(zlib.compress(bytes(1000)), "ZLIB").numpy() == bytes(1000)
    with pytest.raises(ResourceExhaustedError, match="at most 1000 bytes"):
        tf.io.decode_compressed(zlib.compress(bytes(1001)), "ZLIB")
    with pytest.raises(ResourceExhaustedError, match="at most 1000 bytes"):
        tf.io.decode_compressed(gzip.compress(bytes(600)) * 2, "GZIP")


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"\xff\xfe", b"[1]", b"null", b'{"features": 3}', b"[" * 100_000, b'{"a": 1}'),
        b'{"features": {"feature": {"a": {"int64List": {"value": [%s]}}}}}' % (b"9" * 5000),
    ],
)
def test_malformed_json_examples_are_errors(text):
    with pytest.raises(InvalidArgumentError, match="Error while parsing JSON"):
        tf.io.decode_json_example(text)


def test_paths_with_a_null_byte():
    bad = "/tmp/a\0b"
    assert not gfile.exists(bad)
    assert gfile.glob(bad) == []
    for use in (
        gfile.stat,
        gfile.remove,
        gfile.rmtree,
        gfile.mkdir,
        gfile.listdir,
        tf.io.read_file,
    ):
        with pytest.raises(NotFoundError):
            use(bad)
    for use in (gfile.copy, gfile.rename):
        with pytest.raises(NotFoundError):
            use(__file__, bad)
    with pytest.raises(NotFoundError):
        gfile.GFile(bad).read()
    with pytest.raises(InvalidArgumentError, match="negative"):
        gfile.GFile(__file__).read(-2)


def test_names_that_are_not_utf8(tmp_path):
    path = bytes(tmp_path) + b"/\xff.txt"
    with open(path, "wb") as file:
        file.write(b"a\n")
    pattern = bytes(tmp_path) + b"/*.txt"
    assert tf.io.matching_files(pattern).numpy().tolist() == [path]
    names = tf.data.Dataset.list_files(pattern)
    assert [name.numpy() for name in names] == [path]
    assert [line.numpy() for line in tf.data.TextLineDataset(names)] == [b"a"]
    with pytest.raises(InvalidArgumentError, match=r"\\xfe"):
        tf.data.Dataset.list_files(bytes(tmp_path) + b"/\xfe*")


def test_paths_may_be_file_urls(tmp_path):
    url = f"file://{tmp_path}/x"
    with tf.io.gfile.GFile(url, "w") as file:
        file.write("a\nb\n")
    with tf.io.gfile.GFile(str(tmp_path / "x")) as file:
        assert file.readlines() == ["a\n", "b\n"]
    assert tf.io.gfile.exists(url)
    assert tf.io.gfile.glob(f"file://{tmp_path}/*") == [url]
    assert tf.io.gfile.glob({str(tmp_path / "x")}) == [str(tmp_path / "x")]
    assert tf.io.gfile.join(url, "y") == f"{url}/y"
    assert [folder for folder, _, _ in tf.io.gfile.walk(f"file://{tmp_path}")] == [
        f"file://{tmp_path}"
    ]
    assert list(tf.data.TextLineDataset(url).as_numpy_iterator()) == [b"a", b"b"]
    assert list(tf.data.Dataset.list_files(url).as_numpy_iterator()) == [url.encode()]


def test_an_asset_is_a_path(tmp_path):
    (tmp_path / "x").write_text("text")
    assert tf.io.read_file(tf.saved_model.Asset(str(tmp_path / "x"))).numpy() == b"text"
