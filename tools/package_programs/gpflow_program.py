"""Regression with a Gaussian process."""

import gpflow
import numpy as np

x = np.linspace(0, 1, 10)[:, None]
y = np.sin(6 * x)
model = gpflow.models.GPR((x, y), gpflow.kernels.SquaredExponential())
gpflow.optimizers.Scipy().minimize(
    model.training_loss, model.trainable_variables, options={"maxiter": 20}
)
print(round(float(model.training_loss()), 2))
