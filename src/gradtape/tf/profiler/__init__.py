"""Implementation of tf.profiler."""
