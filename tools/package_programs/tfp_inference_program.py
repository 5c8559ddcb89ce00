"""Variational inference, joint distributions and optimisers."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions
model = tfd.JointDistributionNamed(
    {
        "slope": tfd.Normal(0.0, 2.0),
        "offset": tfd.Normal(0.0, 1.0),
        "y": lambda slope, offset: tfd.Independent(
            tfd.Normal(slope * tf.constant([0.0, 1.0, 2.0]) + offset, 0.5), 1
        ),
    }
)
values = {"slope": 1.2, "offset": 0.1, "y": tf.constant([0.2, 1.1, 2.4])}
print("joint", float(model.log_prob(values)))


@tfd.JointDistributionCoroutine
def coroutine():
    z = yield tfd.JointDistributionCoroutine.Root(tfd.Normal(0.0, 1.0))
    yield tfd.Normal(z, 0.5)


print("coroutine", float(coroutine.log_prob((0.3, 0.6))))
print(
    "sequential",
    float(
        tfd.JointDistributionSequential(
            [tfd.Exponential(1.0), lambda e: tfd.Gamma(2.0, e)]
        ).log_prob([0.5, 1.5])
    ),
)

loc, scale = tf.Variable(0.0), tfp.util.TransformedVariable(1.0, tfp.bijectors.Softplus())
surrogate = tfd.Normal(loc, scale)
optimizer = tf.keras.optimizers.Adam(0.1)
for step in range(30):
    with tf.GradientTape() as tape:
        z = surrogate.sample(16, seed=[7, step])
        loss = tf.reduce_mean(surrogate.log_prob(z) - tfd.Normal(2.0, 0.5).log_prob(z))
    variables = surrogate.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
print("vi", float(loss), float(loc), float(tf.convert_to_tensor(scale)))


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def value_and_gradient(x):
    return tfp.math.value_and_gradient(rosenbrock, x)


start = tf.constant([-1.2, 1.0], tf.float64)
for minimize in [tfp.optimizer.bfgs_minimize, tfp.optimizer.lbfgs_minimize]:
    found = minimize(value_and_gradient, start, tolerance=1e-8)
    print(minimize.__name__, found.position.numpy().tolist(), bool(found.converged))
found = tfp.optimizer.nelder_mead_minimize(rosenbrock, initial_vertex=start, max_iterations=80)
print("nelder_mead", found.position.numpy().tolist())
ode = tfp.math.ode.DormandPrince().solve(
    lambda t, y: -2.0 * y, 0.0, tf.constant([1.0]), solution_times=[0.5, 1.0]
)
print("ode", ode.states.numpy().tolist())
