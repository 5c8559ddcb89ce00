"""Implementation of tf.experimental."""
