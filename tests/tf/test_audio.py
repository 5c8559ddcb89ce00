"""tf.audio: encoding and decoding of WAV files."""

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
