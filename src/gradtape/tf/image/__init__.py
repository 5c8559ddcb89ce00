"""What is behind tf.image."""
