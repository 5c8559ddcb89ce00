"""Implementation of tf.config: devices and runtime settings."""
