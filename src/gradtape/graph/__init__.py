"""Graphs: recording the primitives that a function applies, and replaying them."""
