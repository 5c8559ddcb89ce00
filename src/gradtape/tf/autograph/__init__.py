"""What is behind tf.autograph."""
