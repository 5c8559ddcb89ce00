"""Transforms of functions: gradients, jacobians and vmap, on the rules that the tape uses."""

from gradtape.func.batch_tensor import VectorizeError as VectorizeError
from gradtape.func.gradient import grad as grad
from gradtape.func.gradient import per_example_grad as per_example_grad
from gradtape.func.gradient import value_and_grad as value_and_grad
from gradtape.func.gradient import vjp as vjp
from gradtape.func.jacobian import hessian as hessian
from gradtape.func.jacobian import hvp as hvp
from gradtape.func.jacobian import jacfwd as jacfwd
from gradtape.func.jacobian import jacrev as jacrev
from gradtape.func.jacobian import jvp as jvp
from gradtape.func.vmap import vmap as vmap

__all__ = [
    "VectorizeError",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "per_example_grad",
    "value_and_grad",
    "vjp",
    "vmap",
]
