"""Makes `import tensorflow` mean gradtape; the only layer that knows Keras and others by name."""
