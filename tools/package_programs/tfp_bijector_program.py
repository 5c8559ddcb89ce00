"""Bijectors: both directions, their Jacobians, and a distribution that one of them transforms."""

import tensorflow as tf
import tensorflow_probability as tfp

tfb = tfp.bijectors
x = tf.constant([0.3, -0.4, 0.9])
for bijector in [
    tfb.Exp(),
    tfb.Sigmoid(),
    tfb.Softplus(),
    tfb.Tanh(),
    tfb.Shift(1.0)(tfb.Scale(2.0)),
    tfb.Chain([tfb.Exp(), tfb.Scale(0.5)]),
    tfb.FillScaleTriL(),
    tfb.Cumsum(),
    tfb.NormalCDF(),
]:
    y = bijector.forward(x)
    back = bijector.inverse(tf.identity(y))
    ndims = bijector.forward_min_event_ndims
    log_det = bijector.forward_log_det_jacobian(x, event_ndims=max(ndims, 1))
    print(bijector.name, y.numpy().tolist(), back.numpy().tolist(), float(log_det))
base = tfp.distributions.MultivariateNormalDiag(tf.zeros(3))
flow = tfb.MaskedAutoregressiveFlow(
    shift_and_log_scale_fn=lambda x: (tf.cumsum(x, axis=-1, exclusive=True), 0.1 * tf.ones_like(x))
)
d = tfp.distributions.TransformedDistribution(base, flow)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = d.log_prob(x)
print("flow", float(y), tape.gradient(y, x).numpy().tolist())
