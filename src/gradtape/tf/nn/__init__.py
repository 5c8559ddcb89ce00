"""Implementation of tf.nn: activations, convolutions, pools, losses, normalisation."""
