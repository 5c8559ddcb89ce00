"""What is behind tf.debugging: assertions, and the search for NaN."""
