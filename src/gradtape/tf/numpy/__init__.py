"""Implementation of tf.experimental.numpy."""
