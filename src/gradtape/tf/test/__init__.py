"""What is behind tf.test."""
