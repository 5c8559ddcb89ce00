"""tf.signal: Fourier and cosine transforms, framing, windows and the mel scale."""

from gradtape.tf.signal.dct import dct as dct
from gradtape.tf.signal.dct import idct as idct
from gradtape.tf.signal.dct import inverse_mdct as inverse_mdct
from gradtape.tf.signal.dct import mdct as mdct
from gradtape.tf.signal.fft import fft as fft
from gradtape.tf.signal.fft import fft2d as fft2d
from gradtape.tf.signal.fft import fft3d as fft3d
from gradtape.tf.signal.fft import fftshift as fftshift
from gradtape.tf.signal.fft import ifft as ifft
from gradtape.tf.signal.fft import ifft2d as ifft2d
from gradtape.tf.signal.fft import ifft3d as ifft3d
from gradtape.tf.signal.fft import ifftshift as ifftshift
from gradtape.tf.signal.fft import irfft as irfft
from gradtape.tf.signal.fft import irfft2d as irfft2d
from gradtape.tf.signal.fft import irfft3d as irfft3d
from gradtape.tf.signal.fft import rfft as rfft
from gradtape.tf.signal.fft import rfft2d as rfft2d
from gradtape.tf.signal.fft import rfft3d as rfft3d
from gradtape.tf.signal.fft_nd import fftnd as fftnd
from gradtape.tf.signal.fft_nd import ifftnd as ifftnd
from gradtape.tf.signal.fft_nd import irfftnd as irfftnd
from gradtape.tf.signal.fft_nd import rfftnd as rfftnd
from gradtape.tf.signal.frame import frame as frame
from gradtape.tf.signal.frame import overlap_and_add as overlap_and_add
from gradtape.tf.signal.mel import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from gradtape.tf.signal.mel import (
    mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms,
)
from gradtape.tf.signal.stft import inverse_stft as inverse_stft
from gradtape.tf.signal.stft import inverse_stft_window_fn as inverse_stft_window_fn
from gradtape.tf.signal.stft import stft as stft
from gradtape.tf.signal.window import hamming_window as hamming_window
from gradtape.tf.signal.window import hann_window as hann_window
from gradtape.tf.signal.window import kaiser_bessel_derived_window as kaiser_bessel_derived_window
from gradtape.tf.signal.window import kaiser_window as kaiser_window
from gradtape.tf.signal.window import vorbis_window as vorbis_window
