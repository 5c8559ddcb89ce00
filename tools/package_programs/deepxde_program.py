"""Differential equations, solved by networks: a boundary value problem and an inverse problem."""

import contextlib
import io
import os

os.environ["DDE_BACKEND"] = "tensorflow"
import deepxde as dde
import numpy as np

tf = dde.backend.tf


def train(problem, layers, rate, iterations, **options):
    """Train a network whose first weights do not depend on a seed; return the history."""
    net = dde.nn.FNN(layers, "tanh", "Glorot uniform")
    net(tf.zeros([1, 1]))
    for weight in net.trainable_weights:
        weight.assign(np.cos(np.arange(np.prod(weight.shape))).reshape(weight.shape))
    model = dde.Model(problem, net)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints times
        model.compile("adam", lr=rate, **options)
        history, _ = model.train(iterations=iterations, display_every=iterations, verbose=0)
    return [[float(v) for v in loss] for loss in history.loss_train]


geom = dde.geometry.Interval(-1, 1)
pde = lambda x, y: -dde.grad.hessian(y, x) - np.pi**2 * tf.sin(np.pi * x)
edge = dde.icbc.DirichletBC(geom, lambda x: 0, lambda _, on_boundary: on_boundary)
data = dde.data.PDE(geom, pde, edge, 16, 2, train_distribution="uniform")
print("forward", train(data, [1, 20, 20, 1], 0.001, 30))

decay = dde.Variable(0.5)
time = dde.geometry.TimeDomain(0, 1)
ode = lambda t, y: dde.grad.jacobian(y, t) + decay * y
at = np.linspace(0, 1, 6)[:, None]
points = dde.icbc.PointSetBC(at, np.exp(-1.5 * at))
data = dde.data.PDE(time, ode, points, 12, 2, train_distribution="uniform", anchors=at)
losses = train(data, [1, 16, 1], 0.002, 40, external_trainable_variables=[decay])
print("inverse", float(decay), losses)
