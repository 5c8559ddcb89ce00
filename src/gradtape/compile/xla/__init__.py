"""The xla engine: a graph becomes a function of `jax.numpy`, which XLA compiles."""
