"""Control flow as functions: cond, case, loops, map_fn, scan. Eagerly these are plain Python."""

from __future__ import annotations

from builtins import range as indices
from collections.abc import Callable
from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.tensor import Tensor
from gradtape.tf.joining import stack


def truth(value: Any) -> bool:
    """A Python bool of a predicate."""
    return (
        bool(convert(value))
        if isinstance(value, Tensor) or hasattr(value, "__tf_tensor__")
        else bool(value)
    )


@public
def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Call `true_fn` if `pred` holds, else `false_fn`.

    Args:
        pred: a scalar bool.
        true_fn: callable without arguments.
        false_fn: callable without arguments.
        name: accepted for TensorFlow's sake.

    Returns:
        What the chosen function returns.

    Raises:
        TypeError: if a branch is not callable.
    """
    for label, fn in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(fn):
            raise TypeError(f"'{label}' must be callable. Received {fn!r}.")
    return true_fn() if truth(pred) else false_fn()


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
        pred_fn_pairs: list of (predicate, callable).
        default: called if none holds.
        exclusive: whether at most one predicate may hold.
        strict: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        What the chosen function returns.

    Raises:
        InvalidArgumentError: if no predicate holds and there is no default.
    """
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError("case: 'pred_fn_pairs' must be a list, tuple, or dict.")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"case: each entry must be a pair (pred, callable). Received {pair!r}.")
        if not callable(pair[1]):
            raise TypeError(f"case: fn must be callable. Received {pair[1]!r}.")
    for pred, fn in pred_fn_pairs:
        if truth(pred):
            return fn()
    if default is None:
        raise InvalidArgumentError("case: none of the predicates holds and no default is given.")
    return default()


@public
def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """Call the `branch_index`-th of `branch_fns`; out of range, `default` or the last one.

    Args:
        branch_index: a scalar integer.
        branch_fns: list of callables, list of (int, callable), or dict from int to callable.
        default: called if the index has no branch.
        name: accepted for TensorFlow's sake.

    Returns:
        What the chosen function returns.
    """
    if isinstance(branch_fns, dict):
        table = dict(branch_fns)
    elif branch_fns and isinstance(branch_fns[0], tuple):
        table = dict(branch_fns)
    else:
        table = dict(enumerate(branch_fns))
    for fn in table.values():
        if not callable(fn):
            raise TypeError(f"switch_case: branches must be callable. Received {fn!r}.")
    last = table[max(table)]
    return table.get(int(convert(branch_index)), default or last)()


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
        shape_invariants: accepted for TensorFlow's sake.
        parallel_iterations: accepted for TensorFlow's sake.
        back_prop: whether gradients flow through the loop.
        swap_memory: accepted for TensorFlow's sake.
        maximum_iterations: at most so many repetitions.
        name: accepted for TensorFlow's sake.

    Returns:
        The loop variables after the last repetition.
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    limit = None if maximum_iterations is None else int(convert(maximum_iterations))
    packed = len(loop_vars) == 1
    count = 0
    while (limit is None or count < limit) and truth(cond(*loop_vars)):
        after = body(*loop_vars)
        if packed and not isinstance(after, (list, tuple)):
            after = (after,)
        nest.assert_same_structure(loop_vars, after, check_types=False)
        loop_vars = nest.pack_sequence_as(loop_vars, nest.flatten(after))
        count += 1

    def settled(thing: Any) -> Any:
        return convert(thing) if isinstance(thing, (int, float, complex, list, Tensor)) else thing

    return nest.map_structure(settled, loop_vars)


def length_of(elems: Any, op: str) -> int:
    """The common first dimension of a structure of tensors."""
    sizes = {len(t) for t in nest.flatten(elems)}
    if len(sizes) != 1:
        raise ValueError(f"{op}: elements must have one first dimension. Received {sorted(sizes)}.")
    return sizes.pop()


def as_tensors(elems: Any, op: str) -> Any:
    """A structure of tensors, none of them a scalar."""
    tensors = nest.map_structure(convert, elems)
    for t in nest.flatten(tensors):
        if t.ndim == 0:
            raise ValueError(f"{op}: elements must have at least one dimension. Received a scalar.")
    return tensors


def at(elems: Any, i: int) -> Any:
    """The i-th slice of every tensor."""
    return nest.map_structure(lambda t: t[i], elems)


def stacked(results: list[Any]) -> Any:
    """Structures of tensors, stacked leaf by leaf."""
    return nest.map_structure(lambda *leaves: stack([convert(leaf) for leaf in leaves]), *results)


@public
def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Apply `fn` to each slice of `elems` along the first dimension and stack the results.

    Args:
        fn: callable of one slice (of a structure of slices, if `elems` is a structure).
        elems: a tensor or a structure of tensors.
        dtype: dtype of the result, if it differs (deprecated spelling).
        parallel_iterations: accepted for TensorFlow's sake.
        back_prop: whether gradients flow.
        swap_memory: accepted for TensorFlow's sake.
        infer_shape: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.
        fn_output_signature: dtype, or structure of dtypes, of the result.

    Returns:
        A tensor or a structure of tensors.
    """
    if not callable(fn):
        raise TypeError("map_fn: The provided function is not callable.")
    tensors = as_tensors(elems, "map_fn")
    n = length_of(tensors, "map_fn")
    if n == 0:
        raise ValueError(
            "map_fn: elements must not be empty; the shape of the result would be unknown."
        )
    signature = fn_output_signature if fn_output_signature is not None else dtype
    results = [fn(at(tensors, i)) for i in indices(n)]
    if signature is None:
        nest.assert_same_structure(elems, results[0], check_types=False)
    else:
        check_signature(signature, results[0])
    return stacked(results)


def check_signature(signature: Any, result: Any) -> None:
    """The function must return what `fn_output_signature` says."""
    wanted = nest.flatten(signature)
    given = nest.flatten(result)
    if len(wanted) != len(given):
        raise ValueError(
            f"map_fn: fn returned {len(given)} tensors, fn_output_signature says {len(wanted)}."
        )
    for want, have in zip(wanted, given, strict=True):
        dtype = getattr(want, "dtype", want)
        if convert(have).dtype != dtype:
            raise InvalidArgumentError(
                f"map_fn: fn returned {convert(have).dtype.name}, fn_output_signature says {dtype!r}."
            )


@public
def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """`map_fn` under its other name: the result is the same.

    Args:
        fn: callable of one slice.
        elems: a tensor or a structure of tensors.
        fallback_to_while_loop: accepted for TensorFlow's sake.
        warn: accepted for TensorFlow's sake.

    Returns:
        A tensor or a structure of tensors.
    """
    tensors = as_tensors(elems, "vectorized_map")
    return stacked([fn(at(tensors, i)) for i in indices(length_of(tensors, "vectorized_map"))])


def folded(fn: Any, elems: Any, initializer: Any, backwards: bool, op: str) -> list[Any]:
    """All partial results of a fold, in the order they were made."""
    if not callable(fn):
        raise TypeError(f"{op}: fn must be callable. Received {fn!r}.")
    tensors = as_tensors(elems, op)
    order = list(indices(length_of(tensors, op)))
    if backwards:
        order.reverse()
    steps = []
    if initializer is None:
        if not order:
            raise ValueError(f"{op}: elements must not be empty without an initializer.")
        total = at(tensors, order.pop(0))
        steps.append(total)
    else:
        total = nest.map_structure(convert, initializer)
    for i in order:
        total = fn(total, at(tensors, i))
        steps.append(total)
    return steps or [total]


@public
def foldl(
    fn: Any,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices of `elems`, first to last, by `fn(accumulated, slice)`.

    Args:
        fn: callable of the value so far and the next slice.
        elems: a tensor or a structure of tensors.
        initializer: the value to start with; the first slice if None.
        parallel_iterations: accepted for TensorFlow's sake.
        back_prop: whether gradients flow.
        swap_memory: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        The last value.
    """
    return folded(fn, elems, initializer, False, "foldl")[-1]


@public
def foldr(
    fn: Any,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """Combine the slices of `elems`, last to first, by `fn(accumulated, slice)`.

    Args:
        fn: callable of the value so far and the next slice.
        elems: a tensor or a structure of tensors.
        initializer: the value to start with; the last slice if None.
        parallel_iterations: accepted for TensorFlow's sake.
        back_prop: whether gradients flow.
        swap_memory: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        The last value.
    """
    return folded(fn, elems, initializer, True, "foldr")[-1]


@public
def scan(
    fn: Any,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All partial results of a fold, stacked.

    Args:
        fn: callable of the value so far and the next slice.
        elems: a tensor or a structure of tensors.
        initializer: the value to start with; the first slice if None.
        parallel_iterations: accepted for TensorFlow's sake.
        back_prop: whether gradients flow.
        swap_memory: accepted for TensorFlow's sake.
        infer_shape: accepted for TensorFlow's sake.
        reverse: go from last to first.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor or a structure of tensors; entry i belongs to slice i.
    """
    steps = folded(fn, elems, initializer, reverse, "scan")
    return stacked(steps[::-1] if reverse else steps)
