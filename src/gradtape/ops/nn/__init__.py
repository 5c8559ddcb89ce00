"""Primitives of neural networks: activations, softmax, normalisation, pools, the LSTM."""
