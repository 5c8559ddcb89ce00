"""The workloads in JAX: op by op (transformed, but not compiled as a whole), or with `jax.jit`."""

import jax
import jax.numpy as jnp
import numpy as np

from workloads import make_step_function
from workloads.in_jax import basics, nets, solvers

modules = [basics, nets, solvers]


def versions():
    return {"jax": jax.__version__}


def use_threads(n):
    """Do nothing: JAX follows the environment and the cores of this process."""


def runner(work, mode):
    """The step takes and returns the state; if compiled, the old state is donated."""
    stateful = len(jax.tree.leaves(work.state)) > 0
    step, inputs = work.step, work.inputs
    state = jax.tree.map(jnp.array, work.state)  # a copy, because it is donated
    if mode != "eager":
        step = jax.jit(step, donate_argnums=0 if stateful else ())
    if not stateful:
        return make_step_function(work, step)

    def run():
        nonlocal state
        state, results = step(state, *inputs)
        return [*results, *jax.tree.leaves(state)]

    return run


def wait(results):
    jax.block_until_ready(results)


def as_numpy(results):
    return [np.asarray(r) for r in results]
