"""What is behind tf.config: devices and settings."""
