"""Implementation of tf.linalg: products, solvers, decompositions, linear operators."""
