"""tf.audio: decoding and encoding of 16-bit WAV files."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import local
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.side_effect import call_on_host

__all__ = ["decode_wav", "encode_wav"]

PCM_FORMAT = 1  # the WAV format code of uncompressed samples
FULL_SCALE = 1 << 15  # the 16-bit value of a sample of 1.0


class DecodeWav(NamedTuple):
    """Samples of shape (time, channels) between -1 and 1, and the sample rate in hertz."""

    audio: Tensor
    sample_rate: Tensor


def parse_wav_chunks(data: bytes) -> dict[bytes, bytes]:
    """Parse a WAV file into its chunks, by name."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise InvalidArgumentError("decode_wav: Header mismatch: Expected RIFF and WAVE.")
    chunks: dict[bytes, bytes] = {}
    offset = 12
    while offset + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, offset)
        chunks.setdefault(name, data[offset + 8 : offset + 8 + size])
        offset += 8 + size + size % 2
    if b"fmt " not in chunks or b"data" not in chunks:
        raise InvalidArgumentError(
            "decode_wav: the file must have the chunks 'fmt ' and 'data'. "
            f"Received {sorted(chunks)}."
        )
    return chunks


def fit_axis(audio: Any, size: int, axis: int) -> Any:
    """Crop or zero-pad an axis to `size` entries; -1 keeps it."""
    if size < 0:
        return audio
    kept = audio[:size] if axis == 0 else audio[:, :size]
    missing = [(0, 0), (0, 0)]
    missing[axis] = (0, size - kept.shape[axis])
    return np.pad(kept, missing)


@call_on_host
def parse_wav(contents: Tensor, channels: int, samples: int) -> tuple[Tensor, Tensor]:
    """Parse a WAV file into samples and sample rate."""
    if local.probe_size:  # shape inference needs only the shapes
        sizes = (samples, channels if channels > 0 else -1)
        shape = [local.probe_size if n < 0 else n for n in sizes]
        return make_tensor(np.zeros(shape, np.float32)), make_tensor(np.int32(0))
    chunks = parse_wav_chunks(contents._array[()] if contents._array.shape == () else b"")
    code, have, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunks[b"fmt "])
    if code != PCM_FORMAT or bits != 16:
        raise InvalidArgumentError(
            f"decode_wav: Can only read 16-bit WAV files, but received {bits}, format {code}."
        )
    whole = chunks[b"data"][: len(chunks[b"data"]) // (2 * have) * 2 * have]
    audio = np.frombuffer(whole, "<i2").astype(np.float32).reshape(-1, have) / FULL_SCALE
    if channels > have:  # repeat the last channel, as TensorFlow does
        audio = np.concatenate([audio, np.repeat(audio[:, -1:], channels - have, 1)], 1)
    audio = fit_axis(fit_axis(audio, channels if channels > 0 else -1, 1), samples, 0)
    return make_tensor(np.ascontiguousarray(audio)), make_tensor(np.int32(rate))


@call_on_host
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
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if `contents` is not a 16-bit WAV file.
    """
    tensor = convert(contents, dtypes.string)
    return DecodeWav(*parse_wav(tensor, int(desired_channels), int(desired_samples)))


@public
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """The bytes of a 16-bit WAV file.

    Args:
        audio: samples of shape (time, channels); values outside [-1, 1] are clipped.
        sample_rate: samples per second.
        name: accepted for TensorFlow's sake.

    Raises:
        InvalidArgumentError: if `audio` does not have rank 2.
    """
    samples = convert(audio, dtypes.float32)
    if samples._array.ndim != 2:
        raise InvalidArgumentError(
            f"encode_wav: audio must have shape (time, channels). Received {samples.shape}."
        )
    return serialize_wav(samples, convert(sample_rate, dtypes.int32))
