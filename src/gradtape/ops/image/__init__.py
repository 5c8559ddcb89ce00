"""Primitives of images: colours, resampling, boxes and non-maximum suppression."""
