"""`function`: tracing Python functions and calling them as compiled graphs."""
