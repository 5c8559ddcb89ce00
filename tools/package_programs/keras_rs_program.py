"""A layer for recommendations."""

import keras
import keras_rs
import numpy as np

layer = keras_rs.layers.FeatureCross(kernel_initializer="ones")
print(np.round(layer(keras.ops.ones((2, 3))).numpy(), 3).tolist())
