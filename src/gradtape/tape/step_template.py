"""The code of backward steps, which `specialise.py` copies for each op and set of watched inputs.

A copy keeps its line numbers: debuggers, coverage and tracebacks show this file. Only words change:

    LAYOUT                       names of the parts of an entry, see `core/dispatch.py`
    WANT_X, WANT_Y, WANT_Z       True or False: the step evaluates the rule of this input
    UNWRAP_X, …, UNWRAP_OUT      True or False: the entry holds this tensor, and the step its array
    UNWRAP_ALL                   True or False: the same for a tuple of outputs
    OUTPUTS                      True or False: the op has several outputs
    FOLDED                       True or False: an operand was broadcast
    RAW                          True or False: the step works on raw arrays, not on tensors
    CORE_NDIM                    the number of axes that do not broadcast
    x_rule(g, …)                 the call of the rule with its residuals

The compiler drops what is False. `debug.source(tf.tanh, backward=True)` prints a copy.
"""

# The names are those of the namespace in which a copy runs: `backward.generate_step`.
# ruff: noqa: F821, F841, C901, N806
# mypy: ignore-errors


def step(entry, g, grads):
    """Add to `grads` what the cotangent `g` of the output contributes to those of the inputs."""
    LAYOUT = entry
    if UNWRAP_X and (type(x) is EagerTensor or isinstance(x, EagerTensor)):
        x = x._array
    if UNWRAP_Y and (type(y) is EagerTensor or isinstance(y, EagerTensor)):
        y = y._array
    if UNWRAP_Z and (type(z) is EagerTensor or isinstance(z, EagerTensor)):
        z = z._array
    if UNWRAP_OUT and (type(out) is EagerTensor or isinstance(out, EagerTensor)):
        out = out._array
    if UNWRAP_ALL:
        out = tuple([one._array for one in out])
    if OUTPUTS:
        g = fill_missing_cotangents(g, out_spec)
    if WANT_X:
        t = x_rule(g, ...)
        if FOLDED and (not RAW or t.shape != x_shape):
            t = unbroadcast(t, x_shape, CORE_NDIM, g, out_shape)
        p = grads.get(x_uid)
        grads[x_uid] = t if p is None else accumulate(p, t) if RAW else p + t
    if WANT_Y:
        t = y_rule(g, ...)
        if FOLDED and (not RAW or t.shape != y_shape):
            t = unbroadcast(t, y_shape, CORE_NDIM, g, out_shape)
        p = grads.get(y_uid)
        grads[y_uid] = t if p is None else accumulate(p, t) if RAW else p + t
    if WANT_Z:
        t = z_rule(g, ...)
        if FOLDED and (not RAW or t.shape != z_shape):
            t = unbroadcast(t, z_shape, CORE_NDIM, g, out_shape)
        p = grads.get(z_uid)
        grads[z_uid] = t if p is None else accumulate(p, t) if RAW else p + t
