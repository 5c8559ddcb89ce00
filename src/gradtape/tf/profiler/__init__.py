"""What is behind tf.profiler."""
