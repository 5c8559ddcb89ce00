"""The workloads in TensorFlow; `in_gradtape.py` runs them unchanged on gradtape."""

import tensorflow as tf

from workloads import make_step_function
from workloads.in_tensorflow import basics, nets, solvers

modules = [basics, nets, solvers]


def versions():
    return {"tensorflow": tf.__version__}


def use_threads(n):
    tf.config.threading.set_intra_op_parallelism_threads(n)
    tf.config.threading.set_inter_op_parallelism_threads(n)


def runner(work, mode):
    if mode == "eager":
        return make_step_function(work)
    return make_step_function(
        work, tf.function(work.step, jit_compile=True if mode == "xla" else None)
    )


def as_numpy(results):
    return [r.numpy() for r in results]


def wait(results):
    """Do nothing: CPU kernels are synchronous."""
