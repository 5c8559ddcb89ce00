"""Gaussian processes: regression, and a sparse variational model with natural gradients."""

import gpflow
import numpy as np
import tensorflow as tf

x = np.linspace(0, 1, 10)[:, None]
y = np.sin(6 * x)
model = gpflow.models.GPR((x, y), gpflow.kernels.SquaredExponential(), noise_variance=0.1)
print("start", float(model.training_loss()))
gpflow.optimizers.Scipy().minimize(
    model.training_loss, model.trainable_variables, options={"maxiter": 300}
)
mean, variance = model.predict_f(np.array([[0.25], [0.8]]))
print("loss", round(float(model.training_loss()), 2), mean.numpy().round(3).ravel().tolist())

kernel = gpflow.kernels.Matern52(lengthscales=0.3)
sparse = gpflow.models.SVGP(kernel, gpflow.likelihoods.Gaussian(0.05), x[::3].copy(), num_data=10)
gpflow.set_trainable(sparse.q_mu, False)
gpflow.set_trainable(sparse.q_sqrt, False)
natural = gpflow.optimizers.NaturalGradient(gamma=0.5)
adam = tf.keras.optimizers.Adam(0.01)
loss = sparse.training_loss_closure((x, y))
for _ in range(10):
    natural.minimize(loss, [(sparse.q_mu, sparse.q_sqrt)])
    with tf.GradientTape() as tape:
        value = loss()
    variables = sparse.trainable_variables
    adam.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
print("svgp", float(sparse.elbo((x, y))), sparse.q_mu.numpy().ravel().tolist())
