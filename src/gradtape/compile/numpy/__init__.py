"""The numpy engine: compiles a graph into a program of NumPy calls, and that into one function."""
