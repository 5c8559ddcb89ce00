"""The workloads in PyTorch."""

from itertools import count

import torch

from workloads import in_order
from workloads.in_torch import basics, nets, solvers

chapters = [basics, nets, solvers]
NUMBERS = count()


def versions():
    return {"torch": torch.__version__}


def use_threads(n):
    torch.set_num_threads(n)
    torch.set_num_interop_threads(n)


def runner(work, mode):
    """Compiled, the gradients are part of the one graph, which must not lead out of it.

    PyTorch counts compilations by code object, and after a few falls back to eager in silence:
    each workload gets code of its own, and reaching the limit is an error.
    """
    if mode == "eager":
        return in_order(work)
    torch._dynamo.config.trace_autograd_ops = True
    torch._dynamo.config.fail_on_recompile_limit_hit = True

    def detached(*inputs):
        return [r.detach() for r in work.step(*inputs)]

    detached.__code__ = detached.__code__.replace(co_name=f"step_{next(NUMBERS)}")
    return in_order(work, torch.compile(detached))


def wait(results):
    """A CPU kernel has run when it returns."""


def as_numpy(results):
    return [r.detach().numpy() for r in results]
