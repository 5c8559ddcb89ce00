"""The workloads, one file for each framework, each in that framework's own best idiom.

A file defines a function for each `kind` of `problems.py`. It takes the problem's data (NumPy
arrays) and returns a function without arguments that does one step and returns its results, the
same ones in every file:

    chain_outside, chain_unwatched   y after `repeats` times y = sin(y * x + x)
    chain                            the same y, and dy/dx
    mlp                              loss before a step of gradient descent, parameters after it
    elementwise                      sum(tanh(x) * x + x * x), and its gradient
    jacobian                         of tanh(x W) with respect to W
    batch_jacobian                   of tanh(x W1) W2 with respect to x, for each row
    second_order                     gradient of |g|², g the gradient of mean((tanh(x W1) W2 - 1)²)
    lstm, lstm_loop                  outputs of all steps, gradients by inputs, weights and biases
    attention, attention_einsum, attention_fused
                                     outputs, gradients by inputs and the four weights
    pipeline                         the last batch of a pass over a shuffled dataset
    mlp_held, chain_held             whatever keeps a recording alive that could be differentiated

A kind that makes no sense for a framework is left out. Besides, a file has `versions()`,
`use_threads(n)`, `wait(results)` (until an asynchronous computation has ended) and
`as_numpy(results)`.
"""
