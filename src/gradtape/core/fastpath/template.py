"""The code that runs when an op is applied to eager tensors. `specialise.py` copies it for each op.

A copy keeps its line numbers: debuggers, coverage and tracebacks show this file. Only words change:

    X_RULE, Y_RULE, Z_RULE     True or False: the input has a rule; HAS_RULES: one of them has
    X_NUMBER, Y_NUMBER         True or False: the kernel takes a Python number for this operand
    SINGLE                     True or False: float32 is among the `allowed` dtypes
    DEVICES                    True or False: values may be on accelerators
    EXPLAIN                    True or False: ops are written to the ledger
    BROADCASTS                 the condition that an operand was broadcast, or False
    kernel(x_, y_)             an operator if the kernel is one, else a call with static arguments
    entry(mask, x_, y_)        the tuple that records the op for the inputs in `mask`
    STATIC                     the static arguments as a dict; in the signature their names

The compiler drops what is False. `debug.source(tf.tanh)` prints the copy that `tf.tanh` runs. The
functions do for one to three tensors what `dispatch.bind` does for any number.
"""

# The names are those of the namespace in which a copy runs: `codegen.SHARED_GLOBALS`.
# ruff: noqa: F821, C901, N803
# mypy: ignore-errors


def unary(x, name=None):
    """Public elementwise function of one tensor."""
    if type(x) is EagerTensor and (not DEVICES or local.device is None):
        x_ = x._array
        if (SINGLE and (type(x_) is float32 or x_.dtype is FLOAT32)) or x_.dtype in allowed:
            try:
                r = kernel(x_)
            except Exception as error:
                try:
                    r = explain_kernel_error(error, op, (x_,), {})
                except Exception as final:
                    hide_library_frames(final)
                    raise
            out = EagerTensor()
            out._array = r
            out.uid = next_uid()
            if X_RULE and (x.uid < 0 or hand_watched_count[0]):
                for record in local.recorders:
                    if type(record) is not TapeRecord:
                        if record.is_trace:
                            return bind(op, (x,), {})
                        record_op(record, op, (x,), (x_,), {}, out, r)
                    elif x.uid in record:
                        uid = out.uid
                        if uid > 0:
                            uid = out.uid = -uid
                        record[uid] = entry(1, x_)
            if EXPLAIN:
                note_op(op, x.uid, 0, out)
            return out
    if type(x) is not EagerTensor and hasattr(x, "_read"):
        return call_again(x._read())
    try:
        return convert_and_call(x)
    except REDISPATCH as error:
        return redispatch(error, call_again, (x,), {})
    except Exception as error:
        hide_library_frames(error)
        raise


def binary(x, y, name=None):
    """Public elementwise function of two tensors, or of a tensor and a Python number."""
    if type(x) is EagerTensor and (not DEVICES or local.device is None):
        x_ = x._array
        if type(y) is EagerTensor:
            y_ = y._array
            # `dtype` of a NumPy scalar is slow, so its type is tested first.
            if (SINGLE and (type(x_) is float32 and type(y_) is float32)) or (
                x_.dtype is y_.dtype
                and (
                    (SINGLE and (type(x_) is float32 or x_.dtype is FLOAT32)) or x_.dtype in allowed
                )
            ):
                try:
                    r = kernel(x_, y_)
                except Exception as error:
                    try:
                        r = explain_kernel_error(error, op, (x_, y_), {})
                    except Exception as final:
                        hide_library_frames(final)
                        raise
                out = EagerTensor()
                out._array = r
                out.uid = next_uid()
                if HAS_RULES and (
                    (X_RULE and x.uid < 0) or (Y_RULE and y.uid < 0) or hand_watched_count[0]
                ):
                    for record in local.recorders:
                        if type(record) is not TapeRecord:
                            if record.is_trace:
                                return bind(op, (x, y), {})
                            record_op(record, op, (x, y), (x_, y_), {}, out, r)
                        elif X_RULE and x.uid in record:
                            uid = out.uid
                            if uid > 0:
                                uid = out.uid = -uid
                            if Y_RULE and y.uid in record:
                                if BROADCASTS:
                                    record[uid] = entry(3, x_, y_, unbroadcast=True)
                                else:
                                    record[uid] = entry(3, x_, y_)
                            elif BROADCASTS:
                                record[uid] = entry(1, x_, y_, unbroadcast=True)
                            else:
                                record[uid] = entry(1, x_, y_)
                        elif Y_RULE and y.uid in record:
                            uid = out.uid
                            if uid > 0:
                                uid = out.uid = -uid
                            if BROADCASTS:
                                record[uid] = entry(2, x_, y_, unbroadcast=True)
                            else:
                                record[uid] = entry(2, x_, y_)
                if EXPLAIN:
                    note_op(op, x.uid, y.uid, out)
                return out
        elif (
            Y_NUMBER
            and (type(y) is float or type(y) is int)
            and (
                (SINGLE and (type(x_) is float32 or x_.dtype is FLOAT32))
                or x_.dtype in weak[type(y)]
            )
        ):
            y_ = SCALAR_CACHE[y] if SINGLE and type(x_) is ndarray and x_.dtype is FLOAT32 else y
            try:
                r = kernel(x_, y_)
            except Exception as error:
                try:
                    r = explain_kernel_error(error, op, (x_, y_), {})
                except Exception as final:
                    hide_library_frames(final)
                    raise
            out = EagerTensor()
            out._array = r
            out.uid = next_uid()
            if X_RULE and (x.uid < 0 or hand_watched_count[0]):
                for record in local.recorders:
                    if type(record) is not TapeRecord:
                        if record.is_trace:
                            return bind(op, (x, y), {})
                        record_op(record, op, (x, y), (x_, y), {}, out, r)
                    elif x.uid in record:
                        uid = out.uid
                        if uid > 0:
                            uid = out.uid = -uid
                        record[uid] = entry(1, x_, y_)
            if EXPLAIN:
                note_op(op, x.uid, 0, out)
            return out
    elif (
        X_NUMBER
        and type(y) is EagerTensor
        and (not DEVICES or local.device is None)
        and (type(x) is float or type(x) is int)
    ):
        y_ = y._array
        if (SINGLE and (type(y_) is float32 or y_.dtype is FLOAT32)) or y_.dtype in weak[type(x)]:
            x_ = SCALAR_CACHE[x] if SINGLE and type(y_) is ndarray and y_.dtype is FLOAT32 else x
            try:
                r = kernel(x_, y_)
            except Exception as error:
                try:
                    r = explain_kernel_error(error, op, (x_, y_), {})
                except Exception as final:
                    hide_library_frames(final)
                    raise
            out = EagerTensor()
            out._array = r
            out.uid = next_uid()
            if Y_RULE and (y.uid < 0 or hand_watched_count[0]):
                for record in local.recorders:
                    if type(record) is not TapeRecord:
                        if record.is_trace:
                            return bind(op, (x, y), {})
                        record_op(record, op, (x, y), (x, y_), {}, out, r)
                    elif y.uid in record:
                        uid = out.uid
                        if uid > 0:
                            uid = out.uid = -uid
                        record[uid] = entry(2, x_, y_)
            if EXPLAIN:
                note_op(op, 0, y.uid, out)
            return out
    if type(x) is not EagerTensor and hasattr(x, "_read"):
        return call_again(x._read(), y)
    if type(y) is not EagerTensor and hasattr(y, "_read"):
        return call_again(x, y._read())
    try:
        return convert_and_call(x, y)
    except REDISPATCH as error:
        return redispatch(error, call_again, (x, y), {})
    except Exception as error:
        hide_library_frames(error)
        raise


def primitive_one(x, **STATIC):
    """Primitive of one input."""
    if type(x) is EagerTensor and (not DEVICES or local.device is None):
        x_ = x._array
        try:
            r = kernel(x_)
        except Exception as error:
            r = explain_kernel_error(error, op, (x_,), STATIC)
        out = EagerTensor()
        out._array = r
        out.uid = next_uid()
        if X_RULE and (x.uid < 0 or hand_watched_count[0]):
            for record in local.recorders:
                if type(record) is not TapeRecord:
                    if record.is_trace:
                        return bind(op, (x,), STATIC)
                    record_op(record, op, (x,), (x_,), STATIC, out, r)
                elif x.uid in record:
                    uid = out.uid
                    if uid > 0:
                        uid = out.uid = -uid
                    record[uid] = entry(1, x_)
        if EXPLAIN:
            note_op(op, x.uid, 0, out)
        return out
    if isinstance(x, Tensor):
        return bind(op, (x,), STATIC)
    if DEVICES:
        return DevicePort.run_kernel_raw(op, (x,), STATIC)
    return kernel(x)


def primitive_two(x, y, **STATIC):
    """Primitive of two inputs."""
    if type(x) is EagerTensor and type(y) is EagerTensor and (not DEVICES or local.device is None):
        x_ = x._array
        y_ = y._array
        try:
            r = kernel(x_, y_)
        except Exception as error:
            r = explain_kernel_error(error, op, (x_, y_), STATIC)
        out = EagerTensor()
        out._array = r
        out.uid = next_uid()
        if HAS_RULES and (
            (X_RULE and x.uid < 0) or (Y_RULE and y.uid < 0) or hand_watched_count[0]
        ):
            for record in local.recorders:
                if type(record) is not TapeRecord:
                    if record.is_trace:
                        return bind(op, (x, y), STATIC)
                    record_op(record, op, (x, y), (x_, y_), STATIC, out, r)
                elif X_RULE and x.uid in record:
                    uid = out.uid
                    if uid > 0:
                        uid = out.uid = -uid
                    if Y_RULE and y.uid in record:
                        if BROADCASTS:
                            record[uid] = entry(3, x_, y_, unbroadcast=True)
                        else:
                            record[uid] = entry(3, x_, y_)
                    elif BROADCASTS:
                        record[uid] = entry(1, x_, y_, unbroadcast=True)
                    else:
                        record[uid] = entry(1, x_, y_)
                elif Y_RULE and y.uid in record:
                    uid = out.uid
                    if uid > 0:
                        uid = out.uid = -uid
                    if BROADCASTS:
                        record[uid] = entry(2, x_, y_, unbroadcast=True)
                    else:
                        record[uid] = entry(2, x_, y_)
        if EXPLAIN:
            note_op(op, x.uid, y.uid, out)
        return out
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return bind(op, (x, y), STATIC)
    if DEVICES:
        return DevicePort.run_kernel_raw(op, (x, y), STATIC)
    return kernel(x, y)


def primitive_three(x, y, z, **STATIC):
    """Primitive of three inputs; `record_op` records it."""
    if (
        type(x) is EagerTensor
        and type(y) is EagerTensor
        and type(z) is EagerTensor
        and (not DEVICES or local.device is None)
    ):
        x_ = x._array
        y_ = y._array
        z_ = z._array
        try:
            r = kernel(x_, y_, z_)
        except Exception as error:
            r = explain_kernel_error(error, op, (x_, y_, z_), STATIC)
        out = EagerTensor()
        out._array = r
        out.uid = next_uid()
        if HAS_RULES and (
            (X_RULE and x.uid < 0)
            or (Y_RULE and y.uid < 0)
            or (Z_RULE and z.uid < 0)
            or hand_watched_count[0]
        ):
            for record in local.recorders:
                if record.is_trace:
                    return bind(op, (x, y, z), STATIC)
                record_op(record, op, (x, y, z), (x_, y_, z_), STATIC, out, r)
        if EXPLAIN:
            note_bind(op, (x, y, z), out)
        return out
    if isinstance(x, Tensor) or isinstance(y, Tensor) or isinstance(z, Tensor):
        return bind(op, (x, y, z), STATIC)
    if DEVICES:
        return DevicePort.run_kernel_raw(op, (x, y, z), STATIC)
    return kernel(x, y, z)


def primitive_outputs(x, **STATIC):
    """Primitive of one input and several outputs, which share the entry under `anchor`."""
    if type(x) is EagerTensor and (not DEVICES or local.device is None):
        x_ = x._array
        try:
            r = kernel(x_)
        except Exception as error:
            r = explain_kernel_error(error, op, (x_,), STATIC)
        out = tuple([make_tensor(one) for one in r])
        if x.uid < 0 or hand_watched_count[0]:
            for record in local.recorders:
                if type(record) is not TapeRecord:
                    if record.is_trace:
                        return bind(op, (x,), STATIC)
                    record_op(record, op, (x,), (x_,), STATIC, out, r)
                elif x.uid in record:
                    anchor = next_uid()
                    record[anchor] = entry(1, x_)
                    for i, one in enumerate(out):
                        record[mark_recorded(one)] = (TapePort.route_cotangent, anchor, i)
        if EXPLAIN:
            note_bind(op, (x,), out)
        return out
    if isinstance(x, Tensor):
        return bind(op, (x,), STATIC)
    if DEVICES:
        return DevicePort.run_kernel_raw(op, (x,), STATIC)
    return kernel(x)
