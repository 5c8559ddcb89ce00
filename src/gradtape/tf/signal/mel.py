"""tf.signal's mel scale: weight matrix and cepstral coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_integer, as_real
from gradtape.core.convert import convert
from gradtape.core.errors import public
from gradtape.core.size_constant import compute_constant, scale_power
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops import elementwise as e
from gradtape.tf.signal.dct import dct

# O'Shaughnessy (1987), as in HTK.
MEL_BREAK_HERTZ = 700.0
MEL_SCALE = 1127.0


def hertz_to_mel(hertz: Any) -> Any:
    """Convert frequencies in hertz to mels."""
    return MEL_SCALE * np.log1p(np.asarray(hertz, np.float64) / MEL_BREAK_HERTZ)


def check_mel_edges(bins: Any, rate: Any, lower: Any, upper: Any, dtype: Any) -> None:
    """Raise unless the mel bands lie below half the sample rate."""
    op = "linear_to_mel_weight_matrix"
    if bins <= 0:
        raise ValueError(f"{op}: num_mel_bins must be positive. Received {bins}.")
    if lower < 0:
        raise ValueError(f"{op}: lower_edge_hertz must be non-negative. Received {lower}.")
    if lower >= upper:
        raise ValueError(f"{op}: lower_edge_hertz {lower} must be below upper_edge_hertz {upper}.")
    if rate <= 0:
        raise ValueError(f"{op}: sample_rate must be positive. Received {rate}.")
    if upper > rate / 2:
        raise ValueError(
            f"{op}: upper_edge_hertz must not be larger than half the sample_rate. "
            f"Received {upper} for {rate}."
        )
    if not dtype.is_floating:
        raise ValueError(f"{op}: dtype must be a floating point type. Received {dtype.name}.")


@public
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Matrix that converts spectrograms to the mel scale, with overlapping triangular bands.

    Args:
        num_mel_bins: number of bands.
        num_spectrogram_bins: number of frequencies, from 0 to half the sample rate.
        sample_rate: samples per second.
        lower_edge_hertz: lower edge of the lowest band.
        upper_edge_hertz: upper edge of the highest band.
        dtype: a floating type.
        name: has no effect here.

    Returns:
        (num_spectrogram_bins, num_mel_bins): multiply spectrograms by it from the right.

    Example:
        >>> tf.signal.linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129).shape
        TensorShape([129, 20])
    """
    kind = dtypes.as_dtype(dtype)
    rate = float(convert(sample_rate)._array)
    lower = as_real(lower_edge_hertz, "lower_edge_hertz")
    upper = as_real(upper_edge_hertz, "upper_edge_hertz")
    bins = as_integer(num_mel_bins, "num_mel_bins")
    check_mel_edges(bins, rate, lower, upper, kind)
    count = max(as_integer(num_spectrogram_bins, "num_spectrogram_bins"), 1)
    place = hertz_to_mel(np.linspace(0, rate / 2, count))[:, None]
    edges = np.linspace(hertz_to_mel(lower), hertz_to_mel(upper), bins + 2)
    left, middle, right = edges[:-2], edges[1:-1], edges[2:]
    rising = (place - left) / (middle - left)
    falling = (right - place) / (right - middle)
    weights = np.maximum(np.minimum(rising, falling), 0)
    weights[0] = 0  # HTK ignores the zero frequency
    return make_tensor(weights.astype(kind.as_numpy_dtype))


@public
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Mel-frequency cepstral coefficients (MFCCs) of log-mel spectrograms.

    Args:
        log_mel_spectrograms: float32 or float64, (..., num_mel_bins).
        name: has no effect here.

    Returns:
        (..., num_mel_bins); the first dozen are the ones commonly used.
    """
    x = convert(log_mel_spectrograms)
    bins = x._array.shape[-1] if x._array.ndim else 0
    if not bins:
        raise ValueError(
            "mfccs_from_log_mel_spectrograms: num_mel_bins must be positive. "
            f"Received shape {x._array.shape}."
        )
    scale = compute_constant(scale_power, bins, np.sqrt(0.5), -0.5, x._array.dtype)
    result: Tensor = e.multiply(dct(x, type=2), scale)
    return result
