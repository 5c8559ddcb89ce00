"""Implementation of tf.train.experimental; checkpoints are in `state`."""
