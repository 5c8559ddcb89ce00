"""Methods that make a dataset of another: map, batch, shuffle, window, cache."""
