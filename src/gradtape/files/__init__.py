"""Formats of files: records, examples, TensorFlow's checkpoints, events, images."""
