"""A function called for one slice of tensors after another: map_fn, scan, foldl, foldr."""

from __future__ import annotations

import contextlib
from builtins import range as indices
from collections.abc import Callable, Iterator
from typing import Any

from gradtape.core import nest
from gradtape.core.context import staging
from gradtape.core.convert import convert
from gradtape.core.dtypes import int64
from gradtape.core.errors import OutOfRangeError, public
from gradtape.core.spec import TensorSpec
from gradtape.graph.control_flow import NotANode, staged_loop
from gradtape.tape.gradient_tape import log
from gradtape.tf.array.concat_split import concat, stack
from gradtape.tf.array.creation import zeros
from gradtape.tf.array.shape import broadcast_to
from gradtape.tf.array.tensor_array import TensorArray
from gradtape.tf.ragged.map_fn import is_rowwise, map_rows


def length_of(elems: Any, op: str, stretch: bool = False) -> int:
    """The common first dimension of a structure of tensors; if `stretch`, ones do not count."""
    sizes = {len(t) for t in nest.flatten(elems)}
    if stretch and len(sizes) > 1:
        sizes -= {1}
    if len(sizes) != 1:
        raise ValueError(
            f"{op}: Dimensions {sorted(sizes)} are not compatible: all elements must have one "
            "first dimension."
        )
    return sizes.pop()


def as_tensors(elems: Any, op: str) -> Any:
    """A structure of tensors, at least one and none of them a scalar."""
    tensors = nest.map_structure(convert, elems)
    if not nest.flatten(tensors):
        raise ValueError(
            f"{op}: elems must be a Tensor or a structure of Tensors. Received {elems!r}."
        )
    for t in nest.flatten(tensors):
        if t.ndim == 0:
            raise ValueError(
                f"{op}: elements must be 1+ dimensional Tensors, not scalars. Received {t!r}."
            )
    return tensors


def at(elems: Any, i: int) -> Any:
    """The i-th slice of every tensor; the only one, if there is but one."""
    return nest.map_structure(lambda t: t[min(i, len(t) - 1)], elems)


class Columns:
    """Structures of tensors that are stacked leaf by leaf."""

    def __init__(self, specs: Any, n: int, infer_shape: bool) -> None:
        """There will be `n` structures like `specs`: dtypes, or specs of tensors."""
        self.specs = specs
        self.arrays = [
            TensorArray(spec.dtype, n, infer_shape=infer_shape, element_shape=spec.shape)
            for spec in map(as_spec, nest.flatten(specs))
        ]

    def put(self, i: int, structure: Any) -> None:
        """Keep the i-th structure."""
        nest.assert_same_structure(self.specs, structure)
        for array, leaf in zip(self.arrays, nest.flatten(structure), strict=True):
            array.write(i, leaf)

    def stack(self) -> Any:
        """A structure of the stacked leaves."""
        return nest.pack_sequence_as(self.specs, [array.stack() for array in self.arrays])


def as_spec(signature: Any) -> TensorSpec:
    """What a dtype or spec says of a tensor."""
    return signature if isinstance(signature, TensorSpec) else TensorSpec(None, signature)


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
        elems: a tensor, sparse or ragged tensor, or a structure of them.
        dtype: dtype of the result, if it differs (deprecated spelling).
        parallel_iterations: accepted for TensorFlow's sake.
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: accepted for TensorFlow's sake.
        infer_shape: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.
        fn_output_signature: dtype or TensorSpec of what `fn` returns, or a structure of them; by
            default that of `elems`. With a RaggedTensorSpec results may differ in size.

    Returns:
        A tensor or a structure of tensors.

    Raises:
        ValueError, TypeError: if `fn` returns another structure or shape.
        InvalidArgumentError: if `fn` returns another dtype.

    Example:
        >>> tf.map_fn(lambda x: x * x, tf.range(4)).numpy()
        array([0, 1, 4, 9], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("map_fn: The provided function is not callable.")
    if parallel_iterations is not None and parallel_iterations > 1:
        log.warning("map_fn: setting parallel_iterations > 1 has no effect when executing eagerly.")
    signature = dtype if fn_output_signature is None else fn_output_signature
    if is_rowwise(elems, signature):
        return map_rows(fn, elems, signature)
    tensors = as_tensors(elems, "map_fn")
    n = length_of(tensors, "map_fn")
    if signature is None:
        signature = nest.map_structure(lambda t: t.dtype, tensors)
    columns = Columns(signature, n, infer_shape)
    if staging() and n:
        with contextlib.suppress(NotANode):
            return mapped(fn, tensors, n, columns)
    for i in indices(n):
        columns.put(i, fn(at(tensors, i)))
    return columns.stack()


@public
def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply `fn` to each slice of `elems` along the first dimension and stack the results.

    Args:
        fn: callable of one slice.
        elems: a tensor or a structure of tensors; those with one slice are stretched.
        fallback_to_while_loop: accepted for TensorFlow's sake.
        warn: accepted for TensorFlow's sake.

    Returns:
        A tensor, or the structure of tensors that `fn` returns.
    """
    tensors = as_tensors(elems, "vectorized_map")
    n = length_of(tensors, "vectorized_map", stretch=True)
    if n == 0:  # the result on zeros tells the shape
        probe = fn(nest.map_structure(lambda t: zeros(t.shape[1:], t.dtype), tensors))
        return nest.map_structure(lambda t: stack([convert(t)])[:0], probe)
    if staging():
        with contextlib.suppress(NotANode):
            return mapped(fn, stretched(tensors, n), n)
    results = [fn(at(tensors, i)) for i in indices(n)]
    return nest.map_structure(
        lambda *leaves: None if leaves[0] is None else stack([convert(leaf) for leaf in leaves]),
        *results,
    )


def stretched(tensors: Any, n: int) -> Any:
    """Tensors of one slice, repeated."""
    return nest.map_structure(
        lambda t: broadcast_to(t, (n, *t.shape[1:])) if len(t) == 1 else t, tensors
    )


def mapped(fn: Any, tensors: Any, n: int, columns: Columns | None = None) -> Any:
    """The results of `fn`, stacked, as one loop of the graph that is traced.

    Raises:
        NotANode: if it cannot be one.
    """
    structures: list[Any] = []

    def turn(carry: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
        result = fn(nest.pack_sequence_as(tensors, slices))
        if columns is not None:
            columns.put(0, result)
        structures.append(result)
        return [], [leaf for leaf in nest.flatten(result) if leaf is not None]

    limit = convert(n, int64)
    _, ys = staged_loop(staging()[0], None, turn, [], nest.flatten(tensors), limit)
    rest = iter(ys)
    return nest.map_structure(lambda leaf: leaf if leaf is None else next(rest), structures[0])


def accumulated(fn: Any, elems: Any, initializer: Any, backwards: bool, op: str) -> tuple[Any, Any]:
    """The last and all partial results of a fold, as one loop of the graph that is traced.

    Raises:
        NotANode: if it cannot be one.
    """
    if not callable(fn):
        raise TypeError(f"{op}: fn must be callable. Received {fn!r}.")
    tensors = as_tensors(elems, op)
    n = length_of(tensors, op)
    if initializer is None:
        if not n:
            raise OutOfRangeError(f"{op}: elements must not be empty without an initializer.")
        total = at(tensors, n - 1 if backwards else 0)
        rest = nest.map_structure(lambda t: t[:-1] if backwards else t[1:], tensors)
    else:
        total, rest = nest.map_structure(convert, initializer), tensors

    def turn(carry: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
        before = nest.pack_sequence_as(total, carry)
        after = fn(before, nest.pack_sequence_as(tensors, slices))
        nest.assert_same_structure(total, after)
        flat = [convert(leaf) for leaf in nest.flatten(after)]
        return flat, flat

    first, slices = nest.flatten(total), nest.flatten(rest)
    limit = convert(n - (initializer is None), int64)
    last, ys = staged_loop(staging()[0], None, turn, first, slices, limit, backwards)
    if initializer is None:
        pairs = zip(first, ys, strict=True)
        ys = [concat([y, f[None]] if backwards else [f[None], y], 0) for f, y in pairs]
    return nest.pack_sequence_as(total, last), nest.pack_sequence_as(total, ys)


def folded(
    fn: Any, elems: Any, initializer: Any, backwards: bool, op: str
) -> Iterator[tuple[int, Any]]:
    """All partial results of a fold, from the first value on, with the positions of the slices."""
    if not callable(fn):
        raise TypeError(f"{op}: fn must be callable. Received {fn!r}.")
    tensors = as_tensors(elems, op)
    order = list(indices(length_of(tensors, op)))
    if backwards:
        order.reverse()
    if initializer is not None:
        # As in TensorFlow, numbers stay numbers in a fold, and take the dtype they meet.
        total = nest.map_structure(convert, initializer) if op == "scan" else initializer
        yield -1, total
    elif order:
        first = order.pop(0)
        total = at(tensors, first)
        yield first, total
    else:
        raise OutOfRangeError(f"{op}: elements must not be empty without an initializer.")
    for i in order:
        after = fn(total, at(tensors, i))
        nest.assert_same_structure(total, after)
        total = nest.map_structure(convert, after)
        yield i, total


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
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        The last value.
    """
    if staging():
        with contextlib.suppress(NotANode):
            return accumulated(fn, elems, initializer, False, "foldl")[0]
    for _, total in folded(fn, elems, initializer, False, "foldl"):
        last = total
    return last


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
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.

    Returns:
        The last value.
    """
    if staging():
        with contextlib.suppress(NotANode):
            return accumulated(fn, elems, initializer, True, "foldr")[0]
    for _, total in folded(fn, elems, initializer, True, "foldr"):
        last = total
    return last


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
        back_prop: accepted; eagerly gradients flow either way, as in TensorFlow.
        swap_memory: accepted for TensorFlow's sake.
        infer_shape: accepted for TensorFlow's sake.
        reverse: go from last to first.
        name: accepted for TensorFlow's sake.

    Returns:
        A tensor or a structure of tensors; entry i belongs to slice i.

    Example:
        >>> tf.scan(lambda a, x: a + x, tf.range(5)).numpy()
        array([ 0,  1,  3,  6, 10], dtype=int32)
    """
    if staging():
        with contextlib.suppress(NotANode):
            return accumulated(fn, elems, initializer, reverse, "scan")[1]
    steps = folded(fn, elems, initializer, reverse, "scan")
    position, total = next(steps)
    specs = nest.map_structure(TensorSpec.from_tensor if infer_shape else lambda t: t.dtype, total)
    columns = Columns(specs, length_of(as_tensors(elems, "scan"), "scan"), infer_shape)
    if position >= 0:
        columns.put(position, total)
    for i, after in steps:
        columns.put(i, after)
    return columns.stack()
