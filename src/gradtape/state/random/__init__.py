"""Seeds, streams and generators of random numbers."""
