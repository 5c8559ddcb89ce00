"""The numpy engine: a graph becomes a program of NumPy calls, and that one Python function."""
