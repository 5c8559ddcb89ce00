"""`function`: calling Python functions as compiled graphs."""
