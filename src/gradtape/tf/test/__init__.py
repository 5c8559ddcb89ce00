"""Implementation of tf.test."""
