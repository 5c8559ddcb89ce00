"""PNG and JPEG files: damaged ones, and those that are too large."""

import struct
import warnings
import zlib

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from tests.fuzz.file_bombs import make_jpeg, make_png, png_chunk

PIXELS = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
PNG = tf.io.encode_png(PIXELS).numpy()
JPEG = tf.io.encode_jpeg(PIXELS).numpy()


@pytest.mark.parametrize("size", range(len(PNG) - 1))
def test_a_truncated_png_is_an_error(size):
    with pytest.raises(InvalidArgumentError):
        tf.io.decode_png(PNG[:size])


@pytest.mark.parametrize("size", range(0, len(JPEG) - 1, 7))
def test_a_truncated_jpeg_is_an_error(size):
    with pytest.raises(InvalidArgumentError):
        tf.io.decode_jpeg(JPEG[:size])


def test_chunks_that_pixels_do_not_need_are_ignored():
    text = png_chunk(b"zTXt", b"key\0\0" + zlib.compress(bytes(1 << 26)))
    broken = b"\0\0\0\1tEXtaXXXX"  # with a wrong checksum
    data = PNG[:33] + text + broken + PNG[33:]
    np.testing.assert_array_equal(tf.io.decode_png(data), PIXELS)


def test_unknown_critical_chunks_and_wrong_checksums_are_errors():
    for chunk in (png_chunk(b"ABCD", b""), b"\0\0\0\0IDATXXXX"):
        with pytest.raises(InvalidArgumentError, match="corrupt"):
            tf.io.decode_png(PNG[:33] + chunk + PNG[33:])


def test_an_image_that_is_too_large_for_its_file_is_refused():
    empty = zlib.compress(b"")
    for width, height in ((20000, 20000), (1 << 20, 1 << 20), (2_000_000, 1), (0, 1)):
        with pytest.raises(InvalidArgumentError):
            tf.io.decode_png(make_png(width, height, empty))
    for data in (make_jpeg(65500, 65500), make_jpeg(20000, 20000), make_jpeg(8000, 8000, 500)):
        with pytest.raises(InvalidArgumentError):
            tf.io.decode_jpeg(data)


def test_a_large_image_is_decoded_without_a_warning():
    side = 9500  # more pixels than Pillow likes
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(side)) * side)
    chunks = png_chunk(b"IHDR", head), png_chunk(b"IDAT", rows), png_chunk(b"IEND", b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = tf.io.decode_png(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    assert picture.shape == (side, side, 1)


def test_only_jpeg_files_have_a_shape_to_extract_or_crop():
    assert tf.io.extract_jpeg_shape(JPEG).numpy().tolist() == [3, 3, 3]
    for data in (PNG, b"", b"\xff\xd8\xff"):
        with pytest.raises(InvalidArgumentError):
            tf.io.extract_jpeg_shape(data)
        with pytest.raises(InvalidArgumentError):
            tf.io.decode_and_crop_jpeg(data, [0, 0, 1, 1])


def test_channels_follow_the_format():
    for channels in (2, 5, -1):
        with pytest.raises(InvalidArgumentError, match="channels"):
            tf.io.decode_png(PNG, channels)
    with pytest.raises(InvalidArgumentError, match="channels"):
        tf.io.decode_jpeg(JPEG, 4)


def test_a_function_raises_the_same_error():
    decode = tf.function(lambda data: tf.io.decode_image(data, expand_animations=False))
    for _ in range(3):
        with pytest.raises(InvalidArgumentError, match="Unknown image file format"):
            decode(tf.constant(b"junk"))
        assert decode(tf.constant(PNG)).shape == (3, 3, 3)
