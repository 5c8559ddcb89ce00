"""What is behind tf.data: datasets, iterators, optional values."""
