"""Native tensors with one interface, and gradients."""

import eagerpy as ep
import tensorflow as tf

x = ep.astensor(tf.constant([[1.0, -2.0], [3.0, 4.0]]))
print(
    type(x).__name__,
    float(x.square().sum().item()),
    x.argmax(-1).numpy(),
    ep.value_and_grad(lambda y: (y**3).sum(), x)[1].numpy(),
)
