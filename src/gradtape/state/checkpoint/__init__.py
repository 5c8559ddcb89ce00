"""Checkpoints: trackable objects, and saving, finding and restoring their values."""
