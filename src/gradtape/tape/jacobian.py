"""Jacobians: one backward pass with an identity matrix as cotangent, in chunks to bound memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core import nest
from gradtape.core.context import listening, local, staging
from gradtape.core.convert import convert
from gradtape.core.dispatch import Recording
from gradtape.core.dtypes import is_differentiable
from gradtape.core.tensor import Tensor, eager
from gradtape.ops.elementwise import conj
from gradtape.ops.initial_cotangent import batch_rows, unit_rows
from gradtape.ops.shape import concat, reshape, shape_of, transpose, zeros
from gradtape.tape.backward import sweep
from gradtape.tape.indexed_slices import SOURCES, IndexedSlices, Slices, dense
from gradtape.tape.source import roots_of, value_of, zero_wanted

if TYPE_CHECKING:
    from gradtape.tape.gradient_tape import GradientTape

CHUNK_BYTES = 2**27


def jacobian(
    tape: GradientTape, target: Any, sources: Any, unconnected: Any, use_pfor: bool
) -> Any:
    """Derivative of every element of `target` with respect to every element of each source."""
    record = usable(tape, use_pfor, "jacobian")
    zero = zero_wanted(unconnected)
    if isinstance(target, IndexedSlices):
        with listening((*(r for r in local.recorders if r is not record), record)):
            target = convert(target)
    if nest.is_nested(target):
        raise ValueError(
            "jacobian: target must be one tensor. Received a structure. "
            "Call jacobian for each of its tensors."
        )
    tensor = tensor_of(value_of(target), "jacobian")
    flat = nest.flatten(sources)
    uids = [roots_of(record, source)[0] for source in flat]
    tape._leave("jacobian")
    results: list[Any]
    if not is_differentiable(tensor._array.dtype):
        results = [None] * len(flat)
        tape._consume()
    else:
        rows = rows_of(tape, record, tensor, uids, tensor._array.size, unit_rows)
        results = [
            finish(r, tensor._array.shape, shape_of(value_of(s)))
            for r, s in zip(rows, flat, strict=True)
        ]
    shape = tensor._array.shape
    for k, source in enumerate(flat):
        current = value_of(source)
        if results[k] is None and zero:
            results[k] = eager(zeros(shape + shape_of(current), current._array.dtype))
    return nest.pack_sequence_as(sources, results)


def batch_jacobian(
    tape: GradientTape,
    target: Any,
    source: Any,
    unconnected: Any,
    parallel_iterations: int | None,
    use_pfor: bool,
) -> Any:
    """Derivative of each row of `target` with respect to the same row of `source`."""
    record = usable(tape, use_pfor, "batch_jacobian")
    if parallel_iterations is not None and not tape._persistent:
        raise RuntimeError(
            "GradientTape must be created with persistent=True to compute the batch_jacobian with "
            "parallel_iterations."
        )
    zero_wanted(unconnected)
    out, x = (tensor_of(value_of(t), "batch_jacobian") for t in (target, source))
    shape, inner = out._array.shape, x._array.shape
    for tensor in (out, x):
        if tensor.ndim < 2:
            raise ValueError(f"batch_jacobian: Shape {tensor.shape} must have rank at least 2.")
    if shape[0] != inner[0]:
        raise ValueError(
            f"batch_jacobian: Need first dimension of target shape ({out.shape}) and source shape "
            f"({x.shape}) to match."
        )
    uids = [roots_of(record, source)[0]]
    tape._leave()
    size = out._array.size // max(shape[0], 1) if out._array.size else 0
    rows = rows_of(tape, record, out, uids, size, batch_rows)[0]
    if rows is None:
        return eager(zeros(shape + inner[1:], x._array.dtype))
    n = len(inner) + 1
    swapped = transpose(rows, perm=(1 - n, -n, *range(2 - n, 0)))
    return finish(swapped, shape, inner[1:])


def usable(tape: GradientTape, use_pfor: bool, method: str) -> Recording:
    """Check the call, and return the tape's record.

    Raises:
        RuntimeError: if the tape was used before, or must be persistent and is not.
    """
    record = tape._usable()
    if not use_pfor and not tape._persistent and not staging():
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {method} with "
            "experimental_use_pfor set to False."
        )
    return record


def tensor_of(value: Any, method: str) -> Tensor:
    """Return `value` if it is a tensor.

    Raises:
        TypeError: if it is not.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{method}: expected a Tensor or Variable. Received {value!r}.")
    return value


def rows_of(
    tape: GradientTape,
    record: Recording,
    target: Tensor,
    uids: list[list[int]],
    size: int,
    seeds: Any,
) -> list[Any]:
    """For each source, its cotangents for all `size` seeds: (size, *source.shape), or None."""
    recorded = bool(local.recorders)
    wanted = frozenset(uid for some in uids for uid in some)
    chunk = rows_at_once(record, target, size)
    parts: list[list[Any]] = [[] for _ in uids]
    starts = range(0, size, chunk) or range(1)
    for start in starts:
        stop = min(start + chunk, size)
        seed = seeds(start, stop, target._array.shape, target._array.dtype)
        grads: dict[int, Any] = {SOURCES: wanted, target.uid: eager(seed) if recorded else seed}
        release = not tape._persistent and stop == size
        found = sweep(record, grads, recorded, release)
        for some, part in zip(uids, parts, strict=True):
            total = None
            for uid in some:
                g = found.get(uid)
                if g is not None:
                    g = dense(g) if type(g) is Slices else g
                    total = g if total is None else total + g
            if total is not None:
                part.append(total)
    tape._consume()
    return [joined(part) for part in parts]


def joined(parts: list[Any]) -> Any:
    """Concatenate chunks of rows along their first axis; None if there are none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return concat(*parts, axis=-len(shape_of(parts[0])))


def finish(rows: Any, out_shape: tuple[int, ...], inner: tuple[int, ...]) -> Any:
    """Reshape rows to (*target, *source), as a Tensor; conjugated if complex."""
    if rows is None:
        return None
    result = reshape(rows, shape=out_shape + inner, rank=len(shape_of(rows)))
    tensor = result if isinstance(result, Tensor) else eager(result)
    return conj(tensor) if tensor._array.dtype.kind == "c" else tensor


def rows_at_once(record: Recording, target: Tensor, size: int) -> int:
    """How many cotangents one pass takes: the largest intermediate stays within CHUNK_BYTES."""
    largest = target._array.nbytes
    for entry in record.values():
        if entry is not None:
            for part in entry:
                if isinstance(part, Tensor):
                    largest = max(largest, part._array.nbytes)
    return max(1, min(size, CHUNK_BYTES // max(largest, 1)))
