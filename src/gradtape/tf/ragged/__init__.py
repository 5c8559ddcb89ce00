"""Implementation of tf.ragged, and of other functions for ragged tensors."""
