"""Dispatch of eager ops on the fast path: the templates that run, and how they fit an op."""
