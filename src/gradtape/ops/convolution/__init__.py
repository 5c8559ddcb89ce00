"""Convolution: the primitives, the sliding window, and the algorithms to choose from."""
