"""GIF files: the canvas, transparent pixels, damaged files, and limits."""

import struct

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.files import limit

COLOURS = b"\x0a\x0b\x0c\xff\xfe\xfd"
DOT = b"\x02\x02\x44\x01\x00"  # one pixel of colour 0
BLACK, FIRST, SECOND = [0, 0, 0], [10, 11, 12], [255, 254, 253]


def head(palette=True):
    return b"GIF89a" + struct.pack("<HHBBB", 90, 90, 0x80 * palette, 0, 0) + COLOURS * palette


def frame(left=0, top=0, width=1, height=1, pixels=DOT, palette=b""):
    flags = 0x80 if palette else 0
    return b"," + struct.pack("<HHHHB", left, top, width, height, flags) + palette + pixels


def transparent(colour):
    return b"!\xf9\x04\x01\x00\x00" + bytes([colour]) + b"\x00"


def decode(*parts):
    return tf.io.decode_gif(b"".join(parts)).numpy().tolist()


def wide(width):
    """A frame of one row: a code of three bits for each pixel, which is cleared every time."""
    codes = [code for i in range(width) for code in (4, i % 2)] + [5]
    bits = sum(code << 3 * i for i, code in enumerate(codes))
    data = bits.to_bytes(-(-3 * len(codes) // 8), "little")
    return frame(width=width, pixels=b"\x02" + bytes([len(data)]) + data + b"\0")


def test_the_canvas_is_as_large_as_the_largest_frame():
    assert decode(head(), frame(), b";") == [[[FIRST]]]
    assert decode(head(), frame(), wide(3), b";") == [
        [[FIRST, BLACK, BLACK]],
        [[FIRST, SECOND, FIRST]],
    ]


def test_a_frame_is_drawn_on_the_one_before_it():
    moved = frame(left=1, palette=COLOURS[::-1])
    assert decode(head(), wide(3), moved, b";")[1] == [[FIRST, [253, 254, 255], FIRST]]


def test_transparent_pixels_show_the_frame_before():
    assert decode(head(), transparent(0), frame(), b";") == [[[BLACK]]]
    assert decode(head(), wide(2), transparent(0), wide(2), b";")[1] == [[FIRST, SECOND]]
    assert decode(head(), transparent(1), wide(2), b";") == [[[FIRST, BLACK]]]


def test_pixels_outside_of_the_canvas_are_left_out():
    assert decode(head(), wide(2), frame(left=7, top=9), b";")[1] == [[FIRST, SECOND]]


@pytest.mark.parametrize("end", [b"", b"?", b"," + b"\0" * 5, frame()[:-2], frame(width=300)])
def test_damage_after_a_frame_ends_the_file(end):
    assert decode(head(), frame(), frame(), end) == [[[FIRST]], [[FIRST]]]


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((head(), b";"), "no complete image"),
        ((head(), frame()[:-2]), "no complete image"),
        ((head(), frame(width=0), b";"), "no complete image"),
        ((head(), frame(pixels=b"\x09" + DOT[1:]), b";"), "no complete image"),
        ((head(palette=False), frame(), b";"), "missing color map"),
        ((head(), frame(pixels=b"\x02\x02\x54\x01\x00"), b";"), "outside of color map range 2"),
        ((b"GIF89a",), "no complete image"),
    ],
)
def test_a_file_without_a_valid_frame_is_an_error(parts, why):
    with pytest.raises(InvalidArgumentError, match=why):
        decode(*parts)


def test_frames_that_would_fill_gigabytes_are_refused(monkeypatch):
    with pytest.raises(InvalidArgumentError, match="complete"):
        decode(head(), frame(width=60000, height=60000), b";")
    parts = head(), wide(200), frame() * 40, b";"
    assert np.shape(decode(*parts)) == (41, 1, 200, 3)
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 41 * 200 * 3 - 1)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    with pytest.raises(InvalidArgumentError, match="may become at most 24599 bytes"):
        decode(*parts)


def test_ops_for_still_images_take_one_frame():
    assert tf.io.decode_png(head() + frame() + b";").shape == (1, 1, 3)
    with pytest.raises(InvalidArgumentError, match="Got 2 frames"):
        tf.io.decode_jpeg(head() + frame() * 2 + b";")
    with pytest.raises(InvalidArgumentError, match="channels"):
        tf.io.decode_png(head() + frame() + b";", channels=4)
    moving = head() + frame() * 2 + b";"
    assert tf.io.decode_image(moving).shape == (2, 1, 1, 3)
    assert tf.io.decode_image(moving, expand_animations=False).shape == (1, 1, 3)
    with pytest.raises(InvalidArgumentError, match="channels"):
        tf.io.decode_image(moving, channels=1)
