"""A scattering transform."""

import numpy as np
import tensorflow as tf
from kymatio.tensorflow import Scattering1D

print(
    Scattering1D(3, 64, 4)(tf.constant(np.sin(np.arange(64) / 3), tf.float32))
    .numpy()
    .sum()
    .round(3)
)
