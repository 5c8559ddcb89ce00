"""Implementation of tf.math: elementwise functions, reductions, casts, clipping, segments."""
