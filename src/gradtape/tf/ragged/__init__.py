"""What is behind tf.ragged, and what other functions do with ragged tensors."""
