"""Checkpoints: what can be saved, how it is written, found and restored."""
