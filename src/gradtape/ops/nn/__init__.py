"""Neural network ops: activations, softmax, normalisation, pooling, the LSTM."""
