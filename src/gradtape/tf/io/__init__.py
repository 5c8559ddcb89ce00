"""Implementation of tf.io (files, TFRecords, Examples, serialized tensors) and of tf.print."""
