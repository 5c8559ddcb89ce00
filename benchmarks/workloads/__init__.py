"""The workloads, one folder for each framework, each in that framework's own best idiom.

Three files define a function for each `kind` of `problems.py`: `basics` (chains of ops, dense nets,
derivatives), `nets` (what networks are made of) and `solvers` (equations and optimizers). It takes
the problem's data (NumPy arrays) and returns a `Work`, whose results are the same in every folder:

    chain_outside, chain_unwatched   y after `repeats` times y = sin(y * x + x)
    chain                            the same y, and dy/dx
    mlp                              loss before a step of gradient descent, parameters after it
    elementwise                      sum(tanh(x) * x + x * x), and its gradient
    jacobian                         of tanh(x W) with respect to W
    batch_jacobian                   of tanh(x W1) W2 with respect to x, for each row
    second_order                     gradient of |g|², g the gradient of mean((tanh(x W1) W2 - 1)²)
    cnn                              as mlp
    convolution, depthwise, residual, batch_norm, layer_norm, softmax, gelu
                                     the value, gradients by everything that enters
    embedding                        sum(g * rows looked up), and the table after a step
    lstm, lstm_loop                  outputs of all steps, gradients by inputs, weights and biases
    attention, attention_einsum, attention_fused
                                     outputs, gradients by inputs and the four weights
    pipeline                         the last batch of a pass over a shuffled dataset
    pinn                             mean((u'' - f)²) + mean(u(ends)²) of a net u, as mlp
    newton                           loss of a logistic regression, weights after a step of Newton's
    rosenbrock                       value of Rosenbrock's function, x and y after a step
    rosenbrock_loop                  the same after many steps, all of them in one call
    adam                             loss of a deep net; parameters, moments and the count after a
                                     step of Adam
    mlp_held, chain_held             no `Work` but a function: its result keeps a recording alive

A kind that makes no sense for a framework is left out. Besides, a folder has `chapters` (the three
files), `versions()`, `use_threads(n)`, `wait(results)` (until an asynchronous computation has
ended), `as_numpy(results)` and `runner(work, mode)`, a function without arguments that does one
step: eagerly, or `compiled` as a whole, or compiled by `xla`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Work(NamedTuple):
    """A step, what it is called with, and the variables that it updates.

    Inputs are arguments, so that no compiler computes with them in advance. The results are what
    the step returns, then the variables: returned from a compiled step they would be copied. In
    JAX, which has no variables, the step takes `state` first and returns the new one with its
    results.
    """

    step: Callable[..., Any]
    inputs: Sequence[Any] = ()
    state: Any = ()


def in_order(work, compiled=None):
    """A function without arguments that does one step of `work`, or of its compiled form."""
    step, inputs, state = compiled or work.step, work.inputs, work.state
    if not state:
        return lambda: step(*inputs)
    return lambda: [*step(*inputs), *state]
