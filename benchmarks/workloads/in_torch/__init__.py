"""The workloads in PyTorch."""

from itertools import count

import torch

from workloads import make_step_function
from workloads.in_torch import basics, nets, solvers

modules = [basics, nets, solvers]
NUMBERS = count()


def versions():
    return {"torch": torch.__version__}


def use_threads(n):
    torch.set_num_threads(n)
    torch.set_num_interop_threads(n)


def runner(work, mode):
    """If compiled, forward and backward pass are one graph; its results are detached.

    PyTorch counts compilations per code object, and silently falls back to eager after a few.
    So each workload gets its own code object, and reaching the limit is an error.
    """
    if mode == "eager":
        return make_step_function(work)
    torch._dynamo.config.trace_autograd_ops = True
    torch._dynamo.config.fail_on_recompile_limit_hit = True

    def detach_results(*inputs):
        return [r.detach() for r in work.step(*inputs)]

    detach_results.__code__ = detach_results.__code__.replace(co_name=f"step_{next(NUMBERS)}")
    return make_step_function(work, torch.compile(detach_results))


def wait(results):
    """Do nothing: CPU kernels are synchronous."""


def as_numpy(results):
    return [r.detach().numpy() for r in results]
