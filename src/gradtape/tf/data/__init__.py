"""What is behind tf.data, beyond the datasets of `pipeline`."""
