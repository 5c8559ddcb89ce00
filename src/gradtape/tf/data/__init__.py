"""Implementation of tf.data.experimental; datasets are in `pipeline`."""
