"""What is behind tf.random."""
