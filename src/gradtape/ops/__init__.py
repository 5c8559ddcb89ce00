"""Primitives: each kernel with its gradient rules, one file or package per family of ops."""
