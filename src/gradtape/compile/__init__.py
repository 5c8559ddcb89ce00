"""Engines: a graph in, a callable on raw arrays out."""
