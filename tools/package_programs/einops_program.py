"""Rearrange, reduce and repeat."""

import tensorflow as tf
from einops import rearrange, reduce, repeat

x = tf.reshape(tf.range(24.0), [2, 3, 4])
print(
    rearrange(x, "a b c -> c (a b)").numpy().sum(),
    reduce(x, "a b c -> a", "max").numpy(),
    repeat(x, "a b c -> a b c d", d=2).shape,
)
