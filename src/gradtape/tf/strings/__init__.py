"""Implementation of tf.strings."""
