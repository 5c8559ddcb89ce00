"""Implementation of tf.xla."""
