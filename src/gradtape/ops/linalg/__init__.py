"""Matrix ops: products, diagonals, solves, decompositions, band matrices, matrix functions."""
