"""The workloads in TensorFlow; `in_gradtape.py` runs them on gradtape as they stand."""

import tensorflow as tf

from workloads import in_order
from workloads.in_tensorflow import basics, nets, solvers

chapters = [basics, nets, solvers]


def versions():
    return {"tensorflow": tf.__version__}


def use_threads(n):
    tf.config.threading.set_intra_op_parallelism_threads(n)
    tf.config.threading.set_inter_op_parallelism_threads(n)


def runner(work, mode):
    if mode == "eager":
        return in_order(work)
    return in_order(work, tf.function(work.step, jit_compile=True if mode == "xla" else None))


def as_numpy(results):
    return [r.numpy() for r in results]


def wait(results):
    """Kernels on a CPU have run when they return."""
