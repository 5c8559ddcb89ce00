"""Implementation of tf.signal."""
