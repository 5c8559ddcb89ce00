"""What is behind tf.io: files, records, examples, tensors as bytes; and tf.print."""
