"""Implementation of tf.data: datasets, iterators and optional values."""
