"""Functional control flow: cond, case, switch_case and while_loop.

Eagerly these run as plain Python; in a trace they become nodes of the graph.
"""

from __future__ import annotations

import copy
import itertools
import math
import sys
from builtins import range as indices
from collections.abc import Callable
from typing import Any, TypeVar, overload

from gradtape.core import nest
from gradtape.core.context import current_batch, current_trace
from gradtape.core.convert import convert
from gradtape.core.dtypes import bool as bool_dtype
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.graph.control_flow import (
    NotANode,
    has_optional,
    trace_body,
    trace_cond,
    trace_loop,
)
from gradtape.ops.elementwise import equal, select
from gradtape.tf.array.tensor_array import TensorArray

R = TypeVar("R")


def as_python_bool(value: Any) -> bool:
    """Convert a predicate to a Python bool, also in functions without AutoGraph."""
    if isinstance(value, (bool, int, float, str)):
        return bool(value)
    tensor = convert(value)
    return bool(tensor._array if isinstance(tensor, SymbolicTensor) else tensor)


@overload
def cond(
    pred: Any, true_fn: Callable[[], R], false_fn: Callable[[], R], name: str | None = None
) -> R: ...
@overload
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any: ...
@public
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Call `true_fn` if `pred` holds, else `false_fn`.

    Args:
        pred: a scalar bool.
        true_fn: callable without arguments.
        false_fn: callable without arguments.
        name: has no effect here.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: if a branch is not callable.

    Example:
        >>> tf.cond(tf.constant(True), lambda: 1, lambda: 2)
        1
    """
    for label, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(fn):
            raise TypeError(f"'{label}' must be callable. Received {fn!r}.")
    batch = current_batch()
    if batch is not None and batch.owns(pred):
        return select_branch(pred, true_fn, false_fn)
    stage = current_trace()
    if stage and not isinstance(pred, (bool, int, float, str)):
        tensor = stage[0].as_traced(convert(pred))
        if isinstance(tensor, SymbolicTensor):
            return trace_cond(stage[0], tensor, true_fn, false_fn)
    return true_fn() if as_python_bool(pred) else false_fn()


def select_branch(pred: Any, true_fn: Any, false_fn: Any) -> Any:
    """Run both branches and select for each example of `func.vmap` the result of one."""
    yes, no = true_fn(), false_fn()
    nest.assert_same_structure(yes, no)
    return nest.map_structure(
        lambda a, b: None if a is None else select(pred, convert(a), convert(b)), yes, no
    )


@public
def case(
    pred_fn_pairs: Any,
    default: Any = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Call the function of the first pair whose predicate holds.

    Args:
        pred_fn_pairs: list of (predicate, callable). If `exclusive`, also a dict whose keys are
            `pred.ref()`.
        default: called if no predicate holds.
        exclusive: whether at most one predicate may hold. Without a `default`, the last
            predicate is not checked.
        strict: has no effect here; lists of one result are always kept as lists.
        name: has no effect here.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: if the pairs are not pairs of a tensor and a callable.
        ValueError: if there are no pairs, or `pred_fn_pairs` is a dict and `exclusive` is False.
        InvalidArgumentError: if no predicate holds and there is no default, or too many hold.
    """
    if isinstance(pred_fn_pairs, dict):
        if not exclusive:
            raise ValueError(
                "case: a dict of pairs has no order. Give a list, or set exclusive=True."
            )
        pred_fn_pairs = [(key.deref(), fn) for key, fn in pred_fn_pairs.items()]
    check_cases(pred_fn_pairs, default)
    if any(isinstance(pred, SymbolicTensor) for pred, _ in pred_fn_pairs):
        return make_cond_chain(list(pred_fn_pairs), default)
    holding = [bool(pred) for pred, _ in pred_fn_pairs]
    if exclusive and sum(holding[: len(holding) - (default is None)]) > 1:
        raise InvalidArgumentError(
            f"case: exclusive=True: more than 1 conditions evaluated as True: {holding}."
        )
    for held, (_, fn) in zip(holding, pred_fn_pairs, strict=True):
        if held:
            return fn()
    if default is None:
        raise InvalidArgumentError("case: None of conditions evaluated as True. Give a default.")
    return default()


def make_cond_chain(pairs: list[Any], default: Any) -> Any:
    """Express `case` as nested `cond`s; without a default, the last function is the fallback."""
    if not pairs:
        return default()
    (pred, fn), *rest = pairs
    if not rest and default is None:
        return fn()
    return cond(pred, fn, lambda: make_cond_chain(rest, default))


def check_cases(pairs: Any, default: Any) -> None:
    """Raise unless `pairs` is a non-empty list of (bool tensor, callable)."""
    if not isinstance(pairs, (list, tuple)):
        raise TypeError("case: 'pred_fn_pairs' must be a list, tuple, or dict.")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"case: each entry must be a 2-tuple (pred, fn). Received {pair!r}.")
        if not isinstance(pair[0], Tensor) or pair[0].dtype != bool_dtype:
            raise TypeError(f"case: pred must be a bool Tensor. Received {pair[0]!r}.")
        if not callable(pair[1]):
            raise TypeError(f"case: fn must be callable. Received {pair[1]!r}.")
    if not pairs:
        raise ValueError("case: 'pred_fn_pairs' must not be empty.")
    if default is not None and not callable(default):
        raise TypeError(f"case: default must be callable. Received {default!r}.")


@public
def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """Call the function at `branch_index`; if out of range, `default` or the last function.

    Args:
        branch_index: a scalar integer.
        branch_fns: list of callables, list of (int, callable), or dict from int to callable.
        default: called if the index has no branch.
        name: has no effect here.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: if the index is not an integer tensor, or a branch is not callable.
        ValueError: if the branches are not numbered from 0 without gaps, or there are none.
    """
    if not isinstance(branch_index, Tensor) or not branch_index.dtype.is_integer:
        raise TypeError(
            f"switch_case: 'branch_index' must be an integer Tensor. Received {branch_index!r}."
        )
    if default is not None and not callable(default):
        raise TypeError(f"switch_case: default must be callable. Received {default!r}.")
    table = as_branch_table(branch_fns)
    if isinstance(branch_index, SymbolicTensor):
        last = default or table[len(table) - 1]
        return make_cond_chain([(equal(branch_index, i), fn) for i, fn in table.items()], last)
    return table.get(int(branch_index), default or table[len(table) - 1])()


def as_branch_table(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    """Convert branches to a dict from index to callable, and check them."""
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError(
            f"switch_case: 'branch_fns' must be a list, tuple, or dict. Received {branch_fns!r}."
        )
    if not branch_fns:
        raise ValueError("switch_case: must provide at least one item in 'branch_fns'.")
    pairs = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(fn) for fn in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"switch_case: each entry must be a 2-tuple (int, callable). Received {pair!r}."
            )
        if not isinstance(pair[0], int):
            raise TypeError(f"switch_case: key must be a Python `int`. Received {pair[0]!r}.")
        if not callable(pair[1]):
            raise TypeError(f"switch_case: branches must be callable. Received {pair[1]!r}.")
    if sorted(key for key, _ in pairs) != list(indices(len(pairs))):
        raise ValueError(
            "switch_case: branch indices must form contiguous numbers from 0 to "
            f"{len(pairs) - 1}. Received {[key for key, _ in pairs]}."
        )
    return dict(pairs)


@public
def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Repeat `body` while `cond` holds.

    Args:
        cond: callable of the loop variables that returns a scalar bool.
        body: callable of the loop variables that returns their next values.
        loop_vars: a structure of tensors.
        shape_invariants: has no effect here.
        parallel_iterations: has no effect here.
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: has no effect here.
        maximum_iterations: upper bound on the number of iterations; None for no bound.
        name: has no effect here.

    Returns:
        The loop variables after the last iteration, nested as `body` returned them.

    Raises:
        TypeError: if `cond` or `body` is not callable.
        ValueError, TypeError: if `body` returns another structure.

    Example:
        >>> tf.while_loop(lambda i: i < 10, lambda i: [i * 2], [tf.constant(1)])[0].numpy()
        np.int32(16)
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if loop_vars is None or not nest.is_nested(loop_vars) or not loop_vars:
        raise ValueError("while_loop: 'loop_vars' must be provided. Received none.")
    limit = convert(math.inf if maximum_iterations is None else maximum_iterations)
    if limit.ndim:
        raise ValueError(
            f"while_loop: 'maximum_iterations' must be a scalar. Received shape: {limit.shape}"
        )
    stage = current_trace()
    if stage:
        try:
            return trace_while_loop(stage[0], cond, body, loop_vars, maximum_iterations)
        except NotANode:
            pass
    return run_while_loop(stage, cond, body, loop_vars, float(limit))


def run_while_loop(stage: Any, cond: Any, body: Any, loop_vars: Any, limit: float) -> Any:
    """Run a loop in Python; in a trace its random ops are those of one loop."""
    turns = stage[0].iterate_loop(sys.maxsize) if stage else itertools.count()
    for turn in turns:
        if turn >= limit or not as_python_bool(cond(*loop_vars)):
            break
        after = body(*loop_vars)
        if len(loop_vars) == 1 and not nest.is_nested(after):
            after = nest.pack_sequence_as(loop_vars, [after])
        nest.assert_same_structure(list(loop_vars), list(after))
        loop_vars = after
    return nest.map_structure(as_loop_result, loop_vars, expand_composites=True)


def trace_while_loop(trace: Any, cond: Any, body: Any, loop_vars: Any, most: Any) -> Any:
    """Record a loop as a node of the graph.

    Raises:
        NotANode: if the loop cannot be a node.
    """
    if has_optional(loop_vars):
        raise NotANode
    flat = nest.flatten(loop_vars, expand_composites=True)
    arrays = [leaf if isinstance(leaf, TensorArray) else None for leaf in flat]
    if any(array is not None and not has_element_shape(array) for array in arrays):
        arrays = infer_element_shapes(trace, body, loop_vars, arrays)
    carry = [
        convert(leaf) if array is None else array._as_stacked_tensor()
        for leaf, array in zip(flat, arrays, strict=True)
    ]

    def pack(values: list[Any]) -> Any:
        filled = [
            value if array is None else array._with_stacked_tensor(value)
            for value, array in zip(values, arrays, strict=True)
        ]
        return nest.pack_sequence_as(loop_vars, filled, expand_composites=True)

    def run_body(values: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
        after = body(*pack(values))
        if len(loop_vars) == 1 and not nest.is_nested(after):
            after = nest.pack_sequence_as(loop_vars, [after])
        nest.assert_same_structure(list(loop_vars), list(after))
        leaves = nest.flatten(after, expand_composites=True)
        return [
            leaf._as_stacked_tensor() if isinstance(leaf, TensorArray) else leaf for leaf in leaves
        ], []

    limit = None if most is None else convert(most)
    last, _ = trace_loop(
        trace, lambda *values: cond(*pack(list(values))), run_body, carry, [], limit
    )
    return pack(last)


def has_element_shape(array: TensorArray) -> bool:
    """Whether the shape of a TensorArray's elements is known, so that they can be stacked."""
    written = array._stacked_tensor is not None or any(item is not None for item in array._items)
    return written or array.element_shape.is_fully_defined() or array._element_sizes is not None


def infer_element_shapes(trace: Any, body: Any, loop_vars: Any, arrays: list[Any]) -> list[Any]:
    """Infer the element shapes of TensorArrays by tracing one iteration in a separate trace.

    Raises:
        NotANode: if an element shape remains unknown.
    """
    flat = nest.flatten(loop_vars, expand_composites=True)
    probes = [array and copy.copy(array) for array in arrays]
    for probe in probes:
        if probe is not None:
            probe._items = list(probe._items)
    given = [
        trace.copy_value(trace.as_traced(convert(leaf))) if probe is None else probe
        for leaf, probe in zip(flat, probes, strict=True)
    ]
    formals = [t for t in given if isinstance(t, Tensor)]
    after: list[Any] = []

    def run_body(*_: Any) -> None:
        structure = nest.pack_sequence_as(loop_vars, given, expand_composites=True)
        after.extend(nest.flatten(body(*structure), expand_composites=True))

    trace_body(trace, run_body, formals, {})
    found: list[Any] = []
    for array, then in zip(arrays, after, strict=True):
        if array is None:
            found.append(None)
            continue
        if not has_element_shape(then):
            raise NotANode
        shaped = copy.copy(array)
        shaped._element_shape = then.element_shape
        shaped._element_sizes = then._element_sizes
        shaped._items = list(array._items)
        found.append(shaped)
    return found


def as_loop_result(value: Any) -> Any:
    """Convert a loop variable to a tensor; TensorArrays are kept."""
    return value if isinstance(value, TensorArray) else convert(value)
