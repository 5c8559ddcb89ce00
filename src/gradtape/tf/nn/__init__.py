"""What is behind tf.nn."""
