"""Implementation of tf.sparse."""
