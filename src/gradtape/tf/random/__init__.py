"""Implementation of tf.random."""
