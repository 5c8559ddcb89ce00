"""Ops that only tf.raw_ops has a name for."""
