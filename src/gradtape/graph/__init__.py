"""Traces: the graph of primitives that one run of a function recorded."""
