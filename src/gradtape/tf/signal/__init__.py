"""What is behind tf.signal."""
