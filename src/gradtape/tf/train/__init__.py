"""What is behind tf.train, beyond the checkpoints of `state`."""
