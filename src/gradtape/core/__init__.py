"""Values and dispatch: dtypes, shapes, tensors, primitives, recorders and errors."""
