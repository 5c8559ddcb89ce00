"""Implementation of tf.autograph."""
