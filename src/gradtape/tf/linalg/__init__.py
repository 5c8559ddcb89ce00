"""What is behind tf.linalg."""
