"""Dataset transformations: map, batch, shuffle, window, cache and others."""
