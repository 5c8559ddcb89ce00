"""File formats: TFRecord, Example, TensorFlow's checkpoints, event files, images, CSV, text."""
