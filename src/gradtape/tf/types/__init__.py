"""What is behind tf.types."""
