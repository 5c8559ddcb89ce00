"""What is behind tf.experimental.numpy."""
