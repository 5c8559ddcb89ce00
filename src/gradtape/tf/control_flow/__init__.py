"""Control flow as functions: cond, while_loop, map_fn, scan, py_function."""
