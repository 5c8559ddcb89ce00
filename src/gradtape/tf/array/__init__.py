"""Top-level array functions: creation, shapes, concatenation, indexing."""
