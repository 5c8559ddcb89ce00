"""The workloads in JAX: op by op (transformed, but not compiled as a whole), or by `jax.jit`."""

import jax
import jax.numpy as jnp
import numpy as np

from workloads import in_order
from workloads.in_jax import basics, nets, solvers

chapters = [basics, nets, solvers]


def versions():
    return {"jax": jax.__version__}


def use_threads(n):
    """The environment and the cores this process may use have said it."""


def runner(work, mode):
    """State goes in and comes out; compiled, its memory is given away to hold the new one."""
    stateful = len(jax.tree.leaves(work.state)) > 0
    step, inputs = work.step, work.inputs
    state = jax.tree.map(jnp.array, work.state)  # our own: nobody else's memory is given away
    if mode != "eager":
        step = jax.jit(step, donate_argnums=0 if stateful else ())
    if not stateful:
        return in_order(work, step)

    def run():
        nonlocal state
        state, results = step(state, *inputs)
        return [*results, *jax.tree.leaves(state)]

    return run


def wait(results):
    jax.block_until_ready(results)


def as_numpy(results):
    return [np.asarray(r) for r in results]
