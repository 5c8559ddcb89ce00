"""Primitives of matrices: products, decompositions, band matrices, functions of matrices."""
