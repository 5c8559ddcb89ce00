"""Implementation of tf.lookup: tables that map keys to values."""
