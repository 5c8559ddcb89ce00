"""TensorFlow's namespace: thin, validated, documented."""
