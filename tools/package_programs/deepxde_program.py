"""A differential equation, solved by a network."""

import os

os.environ["DDE_BACKEND"] = "tensorflow"
import deepxde as dde
import numpy as np

dde.config.set_random_seed(1)
geom = dde.geometry.Interval(-1, 1)
pde = lambda x, y: -dde.grad.hessian(y, x) - np.pi**2 * dde.backend.tf.sin(np.pi * x)
data = dde.data.PDE(geom, pde, dde.icbc.DirichletBC(geom, lambda x: 0, lambda _, b: b), 16, 2)
model = dde.Model(data, dde.nn.FNN([1] + [20] * 2 + [1], "tanh", "Glorot uniform"))
model.compile("adam", lr=0.01)
history, _ = model.train(iterations=50, display_every=50)
print(sum(history.loss_train[-1]) < sum(history.loss_train[0]))
