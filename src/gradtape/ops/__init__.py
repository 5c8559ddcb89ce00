"""Primitives: kernel and rules side by side, one file a family."""
