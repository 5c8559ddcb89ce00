"""BMP files of 8, 24 and 32 bits, top row first or last."""

import struct

import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError


def make(width, height, bits, pixels, offset=54):
    head = b"BM" + struct.pack("<IHHi", 54 + len(pixels), 0, 0, offset)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, *[0] * 6) + pixels


def decode(data, channels=0):
    return tf.io.decode_bmp(data, channels).numpy().tolist()


def test_rows_come_from_below_unless_the_height_is_negative():
    pixels = bytes([1, 2, 3, 0, 4, 5, 6, 0])
    assert decode(make(1, 2, 24, pixels)) == [[[6, 5, 4]], [[3, 2, 1]]]
    assert decode(make(1, -2, 24, pixels)) == [[[3, 2, 1]], [[6, 5, 4]]]


def test_channels_are_added_and_dropped():
    grey, colour, alpha = bytes([7, 8, 0, 0]), bytes([1, 2, 3, 0]), bytes([1, 2, 3, 4])
    assert decode(make(2, 1, 8, grey)) == [[[7], [8]]]
    assert decode(make(2, 1, 8, grey), 3) == [[[7, 7, 7], [8, 8, 8]]]
    assert decode(make(2, 1, 8, grey), 4) == [[[7, 7, 7, 255], [8, 8, 8, 255]]]
    assert decode(make(1, 1, 24, colour), 4) == [[[3, 2, 1, 255]]]
    assert decode(make(1, 1, 32, alpha)) == [[[3, 2, 1, 4]]]
    assert decode(make(1, 1, 32, alpha), 3) == [[[3, 2, 1]]]
    with pytest.raises(InvalidArgumentError, match="channels"):
        decode(make(1, 1, 24, colour), 1)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (make(1, 1, 24, bytes(4))[:31], "at least 32 bytes"),
        (make(1, 1, 24, bytes(5)), "Input size should match"),
        (make(1, 1, 24, bytes(3)), "Input size should match"),
        (make(0, 1, 24, b""), "Width must be positive"),
        (make(-1, 1, 24, b""), "Width must be positive"),
        (make(1, 0, 24, b""), "nonzero"),
        (make(1, 1, 24, bytes(4), -1), "nonnegative"),
        (make(1, 1, 1, bytes(4)), "inherent"),
        (make(1, 1, 16, bytes(4)), "inherent"),
        (make(30000, 30000, 24, b""), r"less than 2\^30"),
        (make(1, -(2**31), 24, b""), r"less than 2\^30"),
    ],
)
def test_an_invalid_header_is_an_error(data, why):
    with pytest.raises(InvalidArgumentError, match=why):
        decode(data)


def test_other_ops_and_formats_are_refused():
    data = make(1, 1, 24, bytes(4))
    for op in (tf.io.decode_png, tf.io.decode_jpeg, tf.io.decode_gif):
        with pytest.raises(InvalidArgumentError, match="Trying to decode BMP format"):
            op(data)
    assert tf.io.decode_image(data).shape == (1, 1, 3)
    png = tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8)).numpy()
    with pytest.raises(InvalidArgumentError, match="Trying to decode PNG format"):
        decode(png)
