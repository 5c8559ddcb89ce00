"""The workloads: one folder per framework, each written in that framework's idiom.

Three files define a function for each `kind` of `problems.py`: `basics` (chains of ops, dense nets,
derivatives), `nets` (layers and networks) and `solvers` (equations and optimizers). The function
takes the problem's data (NumPy arrays) and returns a `Work`. Results are equal in every folder:

    chain_outside, chain_unwatched   y after `repeats` times y = sin(y * x + x)
    chain                            the same y, and dy/dx
    mlp                              loss before a step of gradient descent, parameters after it
    elementwise                      sum(tanh(x) * x + x * x), and its gradient
    jacobian                         of tanh(x W) with respect to W
    batch_jacobian                   of tanh(x W1) W2 with respect to x, for each row
    second_order                     gradient of |g|², g the gradient of mean((tanh(x W1) W2 - 1)²)
    cnn                              as mlp
    convolution, depthwise, residual, batch_norm, layer_norm, softmax, gelu
                                     the value, and the gradients of all inputs
    embedding                        sum(g * rows looked up), and the table after a step
    lstm, lstm_loop                  outputs of all steps, gradients of inputs, weights and biases
    attention, attention_einsum, attention_fused
                                     outputs, gradients of inputs and the four weights
    pipeline                         the last batch of a pass over a shuffled dataset
    pinn                             mean((u'' - f)²) + mean(u(ends)²) of a net u, as mlp
    newton                           loss of a logistic regression, weights after a Newton step
    rosenbrock                       value of Rosenbrock's function, x and y after a step
    rosenbrock_loop                  the same after many steps in one call
    adam                             loss of a deep net; parameters, moments and the count after a
                                     step of Adam
    mlp_memory, chain_memory             not a `Work` but a function whose result keeps a
                                     recording alive

A framework without a kind has no such function. A folder also has `modules` (the three files),
`versions()`, `use_threads(n)`, `wait(results)` (until asynchronous work has finished),
`as_numpy(results)` and `runner(work, mode)`. The runner is a function without arguments that does
one step: `eager`, `compiled` as a whole, or compiled by `xla`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Work(NamedTuple):
    """A step, its arguments, and the variables that it updates.

    Inputs are arguments, so that compilers cannot fold them as constants. The results are the
    values that the step returns, followed by the variables: a compiled step would copy variables
    that it returns. JAX has no variables: its step takes `state` first, and returns the new state
    with its results.
    """

    step: Callable[..., Any]
    inputs: Sequence[Any] = ()
    state: Any = ()


def make_step_function(work, compiled=None):
    """Make a function without arguments that does one step of `work`, or of its compiled form."""
    step, inputs, state = compiled or work.step, work.inputs, work.state
    if not state:
        return lambda: step(*inputs)
    return lambda: [*step(*inputs), *state]
