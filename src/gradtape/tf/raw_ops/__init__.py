"""Ops that TensorFlow has only in tf.raw_ops."""
