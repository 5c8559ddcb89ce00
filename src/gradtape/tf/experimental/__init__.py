"""What is behind tf.experimental."""
