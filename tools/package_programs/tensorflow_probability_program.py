"""Hamiltonian Monte Carlo, and the gradient of a log-probability."""

import tensorflow as tf
import tensorflow_probability as tfp

kernel = tfp.mcmc.HamiltonianMonteCarlo(lambda x: -0.5 * tf.reduce_sum(x**2), 0.3, 3)
chain = tf.function(
    lambda: tfp.mcmc.sample_chain(20, tf.zeros(2), kernel=kernel, trace_fn=None, seed=[1, 2]),
    autograph=False,
)()
x = tf.constant(1.5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tfp.distributions.Gamma(x, 2.0).log_prob(0.7)
print(chain.numpy()[-1].round(4), round(float(y), 4), round(float(tape.gradient(y, x)), 4))
