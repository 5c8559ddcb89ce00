"""Engines: they compile a graph into a callable on raw arrays."""
