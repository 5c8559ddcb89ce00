"""What is behind tf.lookup: tables from keys to values."""
