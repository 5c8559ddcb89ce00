"""State: variables and modules."""
