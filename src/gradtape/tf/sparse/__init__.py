"""What is behind tf.sparse."""
