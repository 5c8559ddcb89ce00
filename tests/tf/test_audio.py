"""tf.audio: encoding and decoding of WAV files."""

import struct

import numpy as np
import pytest

import gradtape as tf

SOUND = np.array([[0.5, -0.25], [1.5, -1.0], [0.0, 0.125]], np.float32)


def test_encoded_audio_decodes_to_the_same_samples():
    audio, rate = tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 8000))
    assert rate.numpy() == 8000
    expected = np.clip(SOUND, -1, 32767 / 32768)
    np.testing.assert_array_equal(audio, expected)


def test_samples_and_channels_are_cropped_or_padded():
    wav = tf.audio.encode_wav(SOUND, 8000)
    assert tf.audio.decode_wav(wav, 1, 2).audio.numpy().tolist() == [[0.5], [32767 / 32768]]
    more = tf.audio.decode_wav(wav, 3, 4).audio.numpy()
    assert more[0].tolist() == [0.5, -0.25, -0.25]
    assert more[3].tolist() == [0, 0, 0]


def test_other_files_and_shapes_are_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="RIFF"):
        tf.audio.decode_wav(b"abc")
    with pytest.raises(tf.errors.InvalidArgumentError, match="channels"):
        tf.audio.encode_wav([0.5], 8)


def test_the_element_spec_of_a_dataset_has_the_rank():
    wav = tf.audio.encode_wav(SOUND, 8000)
    dataset = tf.data.Dataset.from_tensors(wav).map(lambda w: tf.audio.decode_wav(w)[0])
    assert dataset.element_spec.shape.as_list() == [None, None]
    assert next(iter(dataset)).shape == (3, 2)


def wav(
    data=b"\1\0\2\0", size=None, form=16, code=1, channels=1, rate=8000, step=2, bits=16, more=b""
):
    fields = struct.pack("<HHIIHH", code, channels, rate, rate * step % 2**32, step, bits)
    head = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", form) + fields + bytes(max(form - 16, 0))
    return head + more + b"data" + struct.pack("<I", len(data) if size is None else size) + data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (wav(size=2**32 - 1), "too large"),
        (wav(size=6), "too short"),
        (wav(rate=2**32 - 1), "Bad bytes per second"),
        (wav(rate=2**31, step=0), "Bad bytes per sample"),
        (wav(channels=0, step=0), "Bad number of channels"),
        (wav(channels=2), "Bad bytes per sample"),
        (wav(bits=8), "16-bit"),
        (wav(code=3), "PCM"),
        (wav(form=40), "Bad format chunk size"),
        (wav(more=b"LIST\xff\xff\xff\xff"), "too large"),
        (wav() + wav()[36:], "More than one data chunk"),
        (wav() + b"abc", "too short"),
        (wav()[:36], "No data chunk"),
        (wav(more=b"LIST\0\0\0\x10"), "No data chunk"),
        *((wav()[:size], "decode_wav") for size in range(len(wav()))),
    ],
)
def test_malformed_files_are_errors(data, why):
    with pytest.raises(tf.errors.InvalidArgumentError, match=why):
        tf.audio.decode_wav(data)


def test_other_chunks_are_skipped():
    for data in (wav(form=18), wav(more=b"LIST\3\0\0\0abc"), wav() + b"LIST\0\0\0\x10"):
        assert tf.audio.decode_wav(data).audio.shape == (2, 1)


def test_the_number_of_channels_may_be_zero_but_not_less_than_minus_one():
    assert tf.audio.decode_wav(wav(), 0).audio.shape == (2, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="desired_channels"):
        tf.audio.decode_wav(wav(), -2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.audio.decode_wav([wav(), wav()])
