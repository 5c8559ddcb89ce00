"""Top-level functions of tensors as arrays: making, reshaping, joining, looking up."""
