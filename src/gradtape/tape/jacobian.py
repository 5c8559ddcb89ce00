"""Jacobians: one backward pass with an identity matrix as cotangent, in chunks to bound memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core import nest
from gradtape.core.context import current_trace, local, use_recorders
from gradtape.core.convert import convert
from gradtape.core.dispatch import TapeRecord
from gradtape.core.dtypes import is_differentiable
from gradtape.core.open_shape import has_dims
from gradtape.core.ports import SizePort
from gradtape.core.progress import track_progress
from gradtape.core.size_constant import compute_constant
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.elementwise import conj
from gradtape.ops.initial_cotangent import make_batch_identity_rows, make_identity_rows
from gradtape.ops.shape import concat, reshape, shape_of, transpose, zeros
from gradtape.tape.backward import backward_pass
from gradtape.tape.indexed_slices import SOURCES, IndexedSlices, SparseCotangent, densify_cotangent
from gradtape.tape.source import current_value, needs_zeros, source_uids

if TYPE_CHECKING:
    from gradtape.tape.gradient_tape import GradientTape

CHUNK_BYTES = 2**27


def jacobian(
    tape: GradientTape, target: Any, sources: Any, unconnected: Any, use_pfor: bool
) -> Any:
    """Derivative of every element of `target` with respect to every element of each source."""
    record = require_jacobian_record(tape, use_pfor, "jacobian")
    zero = needs_zeros(unconnected)
    if isinstance(target, IndexedSlices):
        with use_recorders((*(r for r in local.recorders if r is not record), record)):
            target = convert(target)
    if nest.is_nested(target):
        raise ValueError(
            "jacobian: target must be one tensor. Received a structure. "
            "Call jacobian for each of its tensors."
        )
    tensor = require_tensor(current_value(target), "jacobian")
    flat = nest.flatten(sources)
    uids = [source_uids(record, source)[0] for source in flat]
    tape._stop_or_warn("jacobian")
    results: list[Any]
    if not is_differentiable(tensor._array.dtype):
        results = [None] * len(flat)
        tape._release_record()
    else:
        rows = compute_jacobian_rows(
            tape, record, tensor, uids, tensor._array.size, make_identity_rows
        )
        results = [
            reshape_jacobian(r, tensor._array.shape, shape_of(current_value(s)))
            for r, s in zip(rows, flat, strict=True)
        ]
    shape = tensor._array.shape
    for k, source in enumerate(flat):
        current = current_value(source)
        if results[k] is None and zero:
            results[k] = make_zeros(shape + shape_of(current), current._array.dtype)
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
    record = require_jacobian_record(tape, use_pfor, "batch_jacobian")
    if parallel_iterations is not None and not tape._persistent:
        raise RuntimeError(
            "GradientTape must be created with persistent=True to compute the batch_jacobian with "
            "parallel_iterations."
        )
    needs_zeros(unconnected)
    out, x = (require_tensor(current_value(t), "batch_jacobian") for t in (target, source))
    shape, inner = out._array.shape, x._array.shape
    for tensor in (out, x):
        if tensor.ndim < 2:
            raise ValueError(f"batch_jacobian: Shape {tensor.shape} must have rank at least 2.")
    if shape[0] != inner[0]:
        raise ValueError(
            f"batch_jacobian: Need first dimension of target shape ({out.shape}) and source shape "
            f"({x.shape}) to match."
        )
    uids = [source_uids(record, source)[0]]
    tape._stop_or_warn()
    size = out._array.size // max(shape[0], 1) if out._array.size else 0
    rows = compute_jacobian_rows(tape, record, out, uids, size, make_batch_identity_rows)[0]
    if rows is None:
        return make_zeros(shape + inner[1:], x._array.dtype)
    n = len(inner) + 1
    swapped = transpose(rows, perm=(1 - n, -n, *range(2 - n, 0)))
    return reshape_jacobian(swapped, shape, inner[1:])


def make_zeros(shape: tuple[Any, ...], dtype: Any) -> Tensor:
    """A tensor of zeros; in a trace its sizes may be unknown."""
    return (
        SizePort.make_filled(shape, 0, dtype)
        if has_dims(shape)
        else make_tensor(zeros(shape, dtype))
    )


def require_jacobian_record(tape: GradientTape, use_pfor: bool, method: str) -> TapeRecord:
    """Check the call, and return the tape's record.

    Raises:
        RuntimeError: if the tape was used before, or must be persistent and is not.
    """
    record = tape._require_record()
    if not use_pfor and not tape._persistent and not current_trace():
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {method} with "
            "experimental_use_pfor set to False."
        )
    return record


def require_tensor(value: Any, method: str) -> Tensor:
    """Return `value` if it is a tensor.

    Raises:
        TypeError: if it is not.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{method}: expected a Tensor or Variable. Received {value!r}.")
    return value


def compute_jacobian_rows(
    tape: GradientTape,
    record: TapeRecord,
    target: Tensor,
    uids: list[list[int]],
    size: Any,  # an integer, or a symbolic size
    seeds: Any,
) -> list[Any]:
    """For each source, its cotangents for all `size` seeds: (size, *source.shape), or None."""
    recorded = bool(local.recorders)
    wanted = frozenset(uid for some in uids for uid in some)
    parts: list[list[Any]] = [[] for _ in uids]
    if isinstance(size, int):
        chunk = rows_per_chunk(record, target, size)
        starts = range(0, size, chunk) or range(1)
    else:  # a size that the trace does not know: all rows in one pass
        chunk, starts = size, range(1)
    for start in track_progress(starts, len(starts), "jacobian"):
        stop = min(start + chunk, size) if isinstance(size, int) else size
        seed = compute_constant(seeds, start, stop, target._array.shape, target._array.dtype)
        grads: dict[int, Any] = {
            SOURCES: wanted,
            target.uid: make_tensor(seed) if recorded and not isinstance(seed, Tensor) else seed,
        }
        release = not tape._persistent and start == starts[-1]
        found = backward_pass(record, grads, recorded, release)
        for some, part in zip(uids, parts, strict=True):
            total = None
            for uid in some:
                g = found.get(uid)
                if g is not None:
                    g = densify_cotangent(g) if type(g) is SparseCotangent else g
                    total = g if total is None else total + g
            if total is not None:
                part.append(total)
    tape._release_record()
    return [concat_row_chunks(part) for part in parts]


def concat_row_chunks(parts: list[Any]) -> Any:
    """Concatenate chunks of rows along their first axis; None if there are none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return concat(*parts, axis=-len(shape_of(parts[0])))


def reshape_jacobian(rows: Any, out_shape: tuple[int, ...], inner: tuple[int, ...]) -> Any:
    """Reshape rows to (*target, *source), as a Tensor; conjugated if complex."""
    if rows is None:
        return None
    result = reshape(rows, shape=out_shape + inner, rank=len(shape_of(rows)))
    tensor = result if isinstance(result, Tensor) else make_tensor(result)
    return conj(tensor) if tensor._array.dtype.kind == "c" else tensor


def rows_per_chunk(record: TapeRecord, target: Tensor, size: int) -> int:
    """How many cotangents one pass takes: the largest intermediate stays within CHUNK_BYTES."""
    largest = target._array.nbytes
    for entry in record.values():
        if entry is not None:
            for part in entry:
                if isinstance(part, Tensor):
                    largest = max(largest, part._array.nbytes)
    return max(1, min(size, CHUNK_BYTES // max(largest, 1)))
