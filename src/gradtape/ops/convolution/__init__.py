"""Convolution: the primitives, the window that slides, and the algorithms they choose from."""
