"""What is behind tf.math."""
