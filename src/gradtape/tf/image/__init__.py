"""Implementation of tf.image."""
