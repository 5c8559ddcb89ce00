"""Shapes of programs that are drawn only on request.

Each is known to differ between eager mode and functions. The change that mends one moves it from
`OFF` to `ON`; `--with NAME` of `programs.py` turns one on for a run.
"""

OFF = {
    "variables_in_datasets": "functions of datasets that use variables, in a function",
    "outer_results": "branches and loop bodies return tensors of the scope around them as they are",
    "closures": "custom_gradient and recompute_grad close over tensors of the function around them",
    "forward_over_nodes": "a ForwardAccumulator around statements that become cond and loop nodes",
    "sparse_second_order": "second derivatives of rows gathered from an argument or a variable",
    "values_in_custom_gradient": "shapes that depend on values inside of recompute_grad",
    "placeholder_elements": "functions of datasets that fail on an element of zeros",
    "no_gradient_in_a_branch": "gradients through an op without one, by a branch that is not taken",
    "branches_that_cannot_be_traced": "branches that fail for shapes that depend on values",
    "second_order_of_assigned": "second derivatives by variables that a function assigns and reads",
    "assigned_in_nodes": "gradients by variables that a branch or a loop body assigns and reads",
    "shared_variables": "variables that a function captures and gets as arguments, too",
    "array_gather": "TensorArray.gather and its gradient",
    "no_axes": "reductions with axis=[]",
    "empty_reshape": "reshapes of tensors without elements",
    "nan_to_integer": "casts of infinities and NaN to integers",
}
# Errors by which a function says that it cannot do what eager mode does, by feature.
REFUSALS = {
    "values_in_custom_gradient": r"custom_gradient inside tf.function: the gradient function must",
    "placeholder_elements": r"eagerly no error, .*(Value|Shape|Type|Argument)Error.*compiled data",
    "empty_reshape": r"ValueError: shapes \(.*\) and \(.*\) not aligned",
    # TensorFlow refuses these, too: a graph has both branches.
    "no_gradient_in_a_branch": r"eagerly no error, .*gradient registry has no entry.* nodes",
    "branches_that_cannot_be_traced": r"eagerly no error, .*(Value|Shape)Error.*dynamic nodes",
}
ON: dict[str, str] = {
    "traced_datasets": "datasets in a function of its tensors, or whose functions close over them",
    "effects_in_custom_gradient": "checks inside of functions with a gradient of their own",
}
