"""tf.audio: decoding and encoding of 16-bit WAV files."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FLOAT32, FRESH, INT32, OBJECT
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_as

__all__ = ["decode_wav", "encode_wav"]

PCM_FORMAT = 1  # the WAV format code of uncompressed samples
FULL_SCALE = 1 << 15  # the 16-bit value of a sample of 1.0


class DecodeWav(NamedTuple):
    """Samples of shape (time, channels) between -1 and 1, and the sample rate in hertz."""

    audio: Tensor
    sample_rate: Tensor


class WavReader:
    """Reads the fields of a WAV file from a position that moves on."""

    def __init__(self, data: bytes) -> None:
        """Start at the beginning of `data`."""
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        part = self.data[self.at : self.at + size]
        require_wav(len(part) == size, f"Data too short: {size} bytes at {self.at}", len(part))
        self.at += size
        return part

    def take_chunk_header(self) -> tuple[bytes, int]:
        """The name of the next chunk, and how many bytes follow."""
        name, size = struct.unpack("<4sI", self.take(8))
        return name, size

    def expect(self, text: bytes) -> None:
        """Take `text`, which must be next."""
        found = self.data[self.at : self.at + len(text)]
        require_wav(found == text, f"Header mismatch: Expected {text.decode()}", found)
        self.at += len(text)


def require_wav(holds: bool, what: str, received: Any) -> None:
    """Raise InvalidArgumentError unless `holds`."""
    if not holds:
        raise InvalidArgumentError(f"decode_wav: {what}. Received {received}.")


def parse_wav_format(reader: WavReader) -> tuple[int, int]:
    """Parse the head of a file up to its chunks; return the channels and the sample rate."""
    reader.expect(b"RIFF")
    reader.take(4)
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    (size,) = struct.unpack("<I", reader.take(4))
    require_wav(size in (16, 18), "Bad format chunk size for WAV: Expected 16 or 18", size)
    code, channels, rate, speed, step, bits = struct.unpack("<HHIIHH", reader.take(16))
    reader.take(size - 16)
    require_wav(code == PCM_FORMAT, "Bad audio format for WAV: Expected 1 (PCM)", code)
    require_wav(channels > 0, "Bad number of channels for WAV: Expected at least 1", channels)
    require_wav(bits == 16, "Can only read 16-bit WAV files", bits)
    require_wav(step == 2 * channels, f"Bad bytes per sample: Expected {2 * channels}", step)
    require_wav(speed == step * rate, f"Bad bytes per second: Expected {step * rate}", speed)
    require_wav(rate < 1 << 31, "The sample rate must be less than 2^31", rate)
    return channels, rate


def parse_wav_samples(reader: WavReader, channels: int) -> Any:
    """Parse the chunks of a file; return the samples, of shape (time, channels)."""
    found = None
    while reader.at < len(reader.data):
        name, size = reader.take_chunk_header()
        require_wav(size < 1 << 31, f"WAV chunk {name!r} is too large", f"{size} bytes")
        if name != b"data":
            reader.at += size
            continue
        require_wav(found is None, "More than one data chunk found in WAV", "another")
        count = size // (2 * channels)
        found = np.frombuffer(reader.take(count * 2 * channels), "<i2").reshape(count, channels)
    if found is None:
        raise InvalidArgumentError("decode_wav: No data chunk found in WAV.")
    return found.astype(np.float32) / FULL_SCALE


def fit_axis(audio: Any, size: int, axis: int) -> Any:
    """Crop or zero-pad an axis to `size` entries; -1 keeps it."""
    if size < 0:
        return audio
    kept = audio[:size] if axis == 0 else audio[:, :size]
    missing = [(0, 0), (0, 0)]
    missing[axis] = (0, size - kept.shape[axis])
    return np.pad(kept, missing)


@call_on_host(
    lambda contents, channels, samples: (
        Spec((tuple([FRESH if n < 0 else n for n in (samples, channels)]), FLOAT32)),
        Spec(((), INT32)),
    )
)
def parse_wav(contents: Tensor, channels: int, samples: int) -> tuple[Tensor, Tensor]:
    """Parse a WAV file into samples and sample rate."""
    shape = list(contents._array.shape)
    require_wav(not shape, "contents must be scalar", f"the shape {shape}")
    reader = WavReader(contents._array[()])
    have, rate = parse_wav_format(reader)
    audio = parse_wav_samples(reader, have)
    if channels > have:  # repeat the last channel, as TensorFlow does
        audio = np.concatenate([audio, np.repeat(audio[:, -1:], channels - have, 1)], 1)
    audio = fit_axis(fit_axis(audio, channels, 1), samples, 0)
    return make_tensor(np.ascontiguousarray(audio)), make_tensor(np.int32(rate))


@call_on_host(describe_as(dtype=OBJECT))
def serialize_wav(audio: Tensor, rate: Tensor) -> Tensor:
    """Serialize samples as a WAV file."""
    samples = np.asarray(audio._array)
    whole = np.clip(np.rint(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype("<i2")
    data, channels, hertz = whole.tobytes(), samples.shape[1], int(rate._array)
    form = struct.pack(
        "<HHIIHH", PCM_FORMAT, channels, hertz, hertz * channels * 2, channels * 2, 16
    )
    body = b"WAVE" + struct.pack("<4sI", b"fmt ", len(form)) + form
    body += struct.pack("<4sI", b"data", len(data)) + data
    return make_tensor(np.array(struct.pack("<4sI", b"RIFF", len(body)) + body, object))


@public
def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> DecodeWav:
    """The samples of a 16-bit WAV file as floats between -1 and 1.

    Args:
        contents: the bytes of the file, a scalar string.
        desired_channels: how many channels to return; all by default.
        desired_samples: how many samples to return, cropped or zero-padded; all by default.
        name: has no effect here.

    Returns:
        The samples (samples, channels) and the sample rate.

    Raises:
        InvalidArgumentError: if `contents` is not a 16-bit WAV file.

    Example:
        >>> wav = tf.audio.encode_wav(tf.zeros([100, 1]), 8000)
        >>> samples, rate = tf.audio.decode_wav(wav)
        >>> samples.shape, int(rate)
        (TensorShape([100, 1]), 8000)
    """
    tensor = convert(contents, dtypes.string)
    require_wav(desired_channels >= -1, "desired_channels must be >= -1", desired_channels)
    return DecodeWav(*parse_wav(tensor, int(desired_channels), int(desired_samples)))


@public
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """The bytes of a 16-bit WAV file.

    Args:
        audio: samples of shape (time, channels); values outside [-1, 1] are clipped.
        sample_rate: samples per second.
        name: has no effect here.

    Returns:
        A string scalar.

    Raises:
        InvalidArgumentError: if `audio` does not have rank 2.

    Example:
        >>> sound = tf.zeros([100, 1])
        >>> samples, rate = tf.audio.decode_wav(tf.audio.encode_wav(sound, 8000))
        >>> samples.shape, int(rate)
        (TensorShape([100, 1]), 8000)
    """
    samples = convert(audio, dtypes.float32)
    if samples._array.ndim != 2:
        raise InvalidArgumentError(
            f"encode_wav: audio must have shape (time, channels). Received {samples.shape}."
        )
    return serialize_wav(samples, convert(sample_rate, dtypes.int32))
