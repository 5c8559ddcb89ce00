"""Where elements come from: tensors, generators, files."""
