"""tf.quantization: rounding to the steps of small integer types, with gradients."""
