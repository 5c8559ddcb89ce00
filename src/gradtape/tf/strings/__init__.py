"""What is behind tf.strings."""
