"""Log-probabilities of distributions, and their gradients by the first parameter."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
CASES = {
    "Normal": (lambda p: tfd.Normal(p, 1.3), 0.7),
    "LogNormal": (lambda p: tfd.LogNormal(p, 0.8), 1.7),
    "Gamma": (lambda p: tfd.Gamma(p, 2.0), 0.7),
    "Beta": (lambda p: tfd.Beta(p, 2.5), 0.3),
    "StudentT": (lambda p: tfd.StudentT(p, 0.2, 1.1), 0.9),
    "Laplace": (lambda p: tfd.Laplace(p, 0.5), 2.0),
    "Weibull": (lambda p: tfd.Weibull(p, 2.0), 0.6),
    "VonMises": (lambda p: tfd.VonMises(p, 2.0), 0.4),
    "Poisson": (lambda p: tfd.Poisson(p), 3.0),
    "NegativeBinomial": (lambda p: tfd.NegativeBinomial(p, probs=0.4), 2.0),
    "Gumbel": (lambda p: tfd.Gumbel(p, 2.0), 0.3),
    "Cauchy": (lambda p: tfd.Cauchy(p, 0.7), 0.1),
    "HalfNormal": (lambda p: tfd.HalfNormal(p), 0.8),
    "InverseGamma": (lambda p: tfd.InverseGamma(p, 1.5), 0.9),
    "TruncatedNormal": (lambda p: tfd.TruncatedNormal(p, 1.0, 0.0, 3.0), 1.2),
    "Dirichlet": (lambda p: tfd.Dirichlet(tf.stack([p, 2.0])), [0.25, 0.75]),
    "MultivariateNormalDiag": (
        lambda p: tfd.MultivariateNormalDiag(tf.stack([p, 1.0]), [1.0, 2.0]),
        [0.5, 0.5],
    ),
    "MultivariateNormalTriL": (
        lambda p: tfd.MultivariateNormalTriL([p, 0.0], [[1.0, 0.0], [0.4, 1.2]]),
        [0.5, 0.2],
    ),
    "WishartTriL": (
        lambda p: tfd.WishartTriL(3.0, [[1.0, 0.0], [0.2, 1.0]] * tf.reshape(p, [1, 1])),
        [[2.0, 0.3], [0.3, 1.0]],
    ),
    "MixtureSameFamily": (
        lambda p: tfd.MixtureSameFamily(
            tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal(tf.stack([p, 1.0]), [1.0, 0.5])
        ),
        0.4,
    ),
    "Independent": (lambda p: tfd.Independent(tfd.Normal([0.0, p], 1.0), 1), [0.1, 0.2]),
    "GaussianProcess": (
        lambda p: tfd.GaussianProcess(
            tfp.math.psd_kernels.ExponentiatedQuadratic(p, 0.5), [[0.0], [0.5], [1.0]], jitter=1e-4
        ),
        [0.1, 0.4, 0.2],
    ),
}
for name, (make, value) in CASES.items():
    p = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(p)
        y = make(p).log_prob(tf.constant(value))
    print(name, float(y), float(tape.gradient(y, p)))
for a, b in [
    (tfd.Normal(0.0, 1.0), tfd.Normal(0.5, 2.0)),
    (tfd.Gamma(2.0, 1.0), tfd.Gamma(1.0, 3.0)),
    (tfd.Beta(2.0, 1.0), tfd.Beta(1.5, 3.0)),
]:
    print("KL", a.name, float(tfd.kl_divergence(a, b)))
for name in ["Normal", "Laplace", "Gumbel", "Cauchy", "LogNormal", "HalfNormal", "Weibull"]:
    print("sample", name, CASES[name][0](tf.constant(1.5)).sample(3, seed=[3, 4]).numpy().tolist())
