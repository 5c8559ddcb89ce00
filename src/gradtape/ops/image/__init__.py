"""Image ops: colours, resampling, bounding boxes and non-maximum suppression."""
