"""Functional control flow: cond, while_loop, map_fn, scan, py_function."""
