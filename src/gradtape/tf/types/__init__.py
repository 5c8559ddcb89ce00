"""Implementation of tf.types."""
