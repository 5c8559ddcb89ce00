"""State: variables, modules, checkpoints, random generators and hash tables."""
