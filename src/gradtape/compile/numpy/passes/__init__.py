"""Passes: each takes a plan and returns a better one that computes the same."""
