"""Makes `import tensorflow` mean gradtape; the only layer that knows Keras by name."""
