"""Fourier transforms of empty tensors give empty tensors."""

from checking import check, end

import gradtape as tf

check("rfft of shape [0]", [0], lambda: tf.signal.rfft(tf.zeros([0])).shape.as_list())
check("rfft of shape [2, 0]", [2, 0], lambda: tf.signal.rfft(tf.zeros([2, 0])).shape.as_list())
check("rfft of shape [0, 4]", [0, 3], lambda: tf.signal.rfft(tf.zeros([0, 4])).shape.as_list())
check("fft of shape [0]", [0], lambda: tf.signal.fft(tf.zeros([0], tf.complex64)).shape.as_list())
check(
    "rfft of shape [0], fft_length 4",
    [3],
    lambda: tf.signal.rfft(tf.zeros([0]), [4]).shape.as_list(),
)
end()
