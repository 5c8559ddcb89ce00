"""Implementation of tf.debugging: assertions and the NaN check."""
