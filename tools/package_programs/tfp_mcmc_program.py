"""Hamiltonian Monte Carlo with step-size adaptation, the No-U-Turn sampler and random walks."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd, mcmc = tfp.distributions, tfp.mcmc
target = tfd.MultivariateNormalTriL([1.0, -1.0], [[1.0, 0.0], [0.6, 0.8]]).log_prob


def run(kernel, steps):
    chain = tf.function(
        lambda: mcmc.sample_chain(
            steps, tf.zeros(2), kernel=kernel, num_burnin_steps=5, trace_fn=None, seed=[1, 2]
        ),
        autograph=False,
    )
    return chain().numpy()


hmc = mcmc.HamiltonianMonteCarlo(target, step_size=0.3, num_leapfrog_steps=3)
print("hmc", run(hmc, 50)[-5:].tolist())
print("adapted", run(mcmc.SimpleStepSizeAdaptation(hmc, num_adaptation_steps=20), 30)[-3:].tolist())
print("nuts", run(mcmc.NoUTurnSampler(target, step_size=0.3, max_tree_depth=4), 12)[-4:].tolist())
print("walk", run(mcmc.RandomWalkMetropolis(target), 40)[-4:].tolist())
print(
    "mala", run(mcmc.MetropolisAdjustedLangevinAlgorithm(target, step_size=0.1), 20)[-2:].tolist()
)
samples = tf.constant(run(hmc, 60))
print("ess", mcmc.effective_sample_size(samples).numpy().tolist())
