"""The meaning and the fix of every cause of a lost gradient, one sentence each."""

import re

MEANINGS = {
    "not_watched_constant": "it is a plain tensor that the tape does not watch.",
    "non_trainable": "it is a variable with trainable=False, which tapes do not watch.",
    "watch_accessed_off": "the tape was made with watch_accessed_variables=False.",
    "watched_late": "the tape watches it only after its use.",
    "variable_replaced": "the name of a variable was bound to a tensor, which is not watched.",
    "wrong_object": "it is a copy: the target was computed from another object.",
    "not_connected": "the target does not depend on it; this is the last line of its way.",
    "string_dtype": "the value became text, which has no gradient.",
    "outside_context": "this was computed outside the tape's `with` block.",
    "other_thread": "this was computed on a thread that does not know the tape.",
    "stop_recording": "the tape was paused by stop_recording().",
    "tape_reset": "reset() made the tape forget what it had recorded.",
    "stop_gradient": "stop_gradient blocks the gradient.",
    "numpy_round_trip": "the value left the tensors for NumPy, where the tape does not record.",
    "python_round_trip": "the value became a Python object, where the tape does not record.",
    "py_function": "a Python function computed it outside the tape.",
    "integer_path": "integers and booleans have no gradient.",
    "no_gradient_op": "{op} has no gradient here.",
    "integer_argument": "it is used only as an index or a condition, which has no gradient.",
    "state_read": "the value was stored in a variable; gradients do not flow through assignments.",
    "metric_result": "a metric stores its state in variables; gradients do not flow through them.",
    "dataset_iteration": "the value came out of a dataset; gradients do not flow into tf.data.",
    "custom_gradient_none": "the custom gradient function returns None for it.",
    "inner_tape_only": "the inner gradient was taken where the outer tape did not record.",
    "function_boundary": "it belongs to the inside of a tf.function, or was made outside it.",
    "not_recorded": "the program ran before the ledger was switched on.",
}

FIXES = {
    "not_watched_constant": "call tape.watch(x) at the start of the `with` block, or use a "
    "tf.Variable.",
    "non_trainable": "create the variable with trainable=True, or call tape.watch on it.",
    "watch_accessed_off": "call tape.watch on the variable, or leave watch_accessed_variables on.",
    "watched_late": "call tape.watch before the first op that uses the tensor.",
    "variable_replaced": "update the variable with assign() instead of binding its name again.",
    "wrong_object": "ask for the very object that the computation used.",
    "not_connected": "use its result in the target, or do not ask for this gradient.",
    "string_dtype": "keep the value a floating-point tensor; make text only for display.",
    "outside_context": "move this line into the `with tf.GradientTape()` block.",
    "other_thread": "compute it on the tape's thread, or open a tape inside the worker.",
    "stop_recording": "move the op out of the stop_recording() block.",
    "tape_reset": "compute the target after reset(), or do not call reset().",
    "stop_gradient": "remove stop_gradient from this way, or take the gradient of another input.",
    "numpy_round_trip": "use the tf function of the same name, and .numpy() only for display.",
    "python_round_trip": "keep the tensor, and convert to a Python number only for display.",
    "py_function": "write it with tf functions, or give it a gradient with tf.custom_gradient.",
    "integer_path": "keep a floating dtype, or use a straight-through estimator.",
    "no_gradient_op": "use a smooth function instead, or a straight-through estimator.",
    "integer_argument": "use a soft selection, such as softmax weights, instead of indices.",
    "state_read": "use the tensor itself, and assign it to the variable only for later.",
    "metric_result": "use the loss tensor itself; a metric is for reporting.",
    "dataset_iteration": "index the tensor itself inside the tape.",
    "custom_gradient_none": "return a gradient for this argument; pass closed-over tensors as "
    "arguments.",
    "inner_tape_only": "call inner.gradient inside the outer tape's `with` block.",
    "function_boundary": "return what you need from the function, and differentiate its arguments "
    "or variables.",
    "not_recorded": "run the program inside `with gradtape.debug.explain():`, or with "
    "GRADTAPE_EXPLAIN=1.",
}

STRAIGHT_THROUGH = (
    "use a smooth function instead, or let the gradient pass straight through: "
    "{x} + tf.stop_gradient({op} - {x})."
)
SOFT_CHOICE = "use tf.nn.softmax(x) as weights instead of an index, or tf.gather the values by it."
COMPARISON = "use tf.sigmoid((a - b) / temperature) in place of the comparison."
SHAPE_ONLY = "use the values: this result depends on the shape alone."
# Fixes of "no_gradient_op" that fit the op
OP_FIXES = {
    **dict.fromkeys(("round", "rint", "floor", "ceil", "truncate"), STRAIGHT_THROUGH),
    **dict.fromkeys(
        ("argmax", "argmin", "stable_argsort", "top_k", "sort_with_order"), SOFT_CHOICE
    ),
    **dict.fromkeys(
        ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal"), COMPARISON
    ),
    **dict.fromkeys(("zeros_like", "ones_like", "size", "shape"), SHAPE_ONLY),
    "floordiv": "use / where a gradient must pass.",
    "truncatediv": "use / where a gradient must pass.",
    "random_classes": "use the Gumbel softmax: tf.nn.softmax((logits + noise) / temperature).",
}


def find_fix(cause: str | None, op: str, written: str) -> str:
    """What to do about a cause; `written` is the expression of the op, or "" if it is long."""
    if cause == "no_gradient_op" and op in OP_FIXES:
        call = re.fullmatch(r"([\w.]+)\((.*)\)", written)
        function, x = call.groups() if call else ("tf.round", "x")
        x = x if re.fullmatch(r"[\w.]+", x) else "x"
        return OP_FIXES[op].format(op=f"{function}({x})", x=x)
    return FIXES.get(cause or "", "")
