"""Band matrices, stored as diagonals: products, solves and eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import BOOL, found_positions, with_shape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.graph.side_effect import side_effect
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import take
from gradtape.ops.linalg import band_matrix, eigen
from gradtape.ops.linalg import diagonal as diagonal_ops
from gradtape.ops.linalg.perturbed_solve import perturbed_solve
from gradtape.tf.linalg.decomposition import MATRIX_DTYPES, as_float_matrices
from gradtape.tf.public_op import check_dtype, check_same_dtype


def as_compact_diagonals(diagonals: Any, diagonals_format: str) -> Tensor:
    """Convert the diagonals of tridiagonal matrices to the format "compact" (..., 3, n)."""
    if diagonals_format == "compact":
        return convert(diagonals)
    if diagonals_format == "sequence":
        parts = [convert(d) for d in diagonals]
        if len(parts) != 3:
            raise ValueError(f"Expected diagonals to be a sequence of length 3, got {len(parts)}.")
        n = parts[1]._array.shape[-1]
        if parts[0]._array.shape[-1] == n - 1:
            parts[0] = s.pad(parts[0], paddings=((0, 1),), value=0)
        if parts[2]._array.shape[-1] == n - 1:
            parts[2] = s.pad(parts[2], paddings=((1, 0),), value=0)
        return s.stack(*parts, axis=-2)
    if diagonals_format == "matrix":
        square = convert(diagonals)
        shape = square._array.shape
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {shape}.")
        above = s.pad(diagonal_ops.diagonal(square, offset=1), paddings=((0, 1),), value=0)
        below = s.pad(diagonal_ops.diagonal(square, offset=-1), paddings=((1, 0),), value=0)
        return s.stack(above, diagonal_ops.diagonal(square), below, axis=-2)
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


@public
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solution `x` of A @ x = rhs for tridiagonal A.

    Args:
        diagonals: "compact": (..., 3, n), the superdiagonal, the main diagonal and the
            subdiagonal, element i from row i of the matrix; "sequence": the same as three tensors;
            "matrix": (..., n, n).
        rhs: (..., n), or (..., n, m) for several right-hand sides.
        diagonals_format: "compact", "sequence" or "matrix".
        transpose_rhs: whether rhs is (..., m, n).
        conjugate_rhs: whether to conjugate rhs first.
        name: has no effect here.
        partial_pivoting: has no effect on regular systems: the solver always pivots. Without it,
            an elimination that meets a pivot of zero gives NaN.
        perturb_singular: whether to perturb pivots that are too small, so that singular matrices
            have a solution, too.

    Returns:
        The solution; NaN for singular matrices whose pivots are not perturbed.

    Raises:
        ValueError: if the shapes do not match, or pivots are to be perturbed without pivoting.

    Example:
        >>> diagonals = [[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]]
        >>> tf.linalg.tridiagonal_solve(diagonals, [3.0, 3.0]).numpy().round(3)
        array([1., 1.], dtype=float32)
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    bands = as_compact_diagonals(diagonals, diagonals_format)
    b = convert(rhs)
    shape, right = bands._array.shape, b._array.shape
    if len(shape) < 2 or shape[-2] != 3:
        raise ValueError(f"Expected 3 diagonals got {shape[-2] if len(shape) > 1 else 0}")
    if not len(shape) - 1 <= len(right) <= len(shape):
        raise ValueError(
            f"Expected the rank of rhs to be {len(shape) - 1} or {len(shape)}, got {len(right)}"
        )
    check_same_dtype("TridiagonalSolve", check_dtype("TridiagonalSolve", bands, MATRIX_DTYPES), b)
    single = len(right) == len(shape) - 1
    b = e.conj(b) if conjugate_rhs and b._array.dtype.kind == "c" else b
    if single:
        b = band_matrix.vector_as_column(b)
    elif transpose_rhs:
        b = s.swap(b)
    if b._array.shape[:-2] != shape[:-2]:
        raise ValueError(f"Batch shapes {shape[:-2]} and {b._array.shape[:-2]} are incompatible")
    if b._array.shape[-2] != shape[-1]:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{shape[-1]} and {b._array.shape[-2]}"
        )
    if perturb_singular:
        out = perturbed_solve(bands, b, crossed=True)
    else:
        out = band_matrix.banded_solve(bands, b, below=1, crossed=True)
    if not partial_pivoting:
        regular = apply_raw(has_nonzero_pivots, bands)
        out = e.select(regular, out, convert(float("nan"), out.dtype))
    return s.index_axis(out, axis=-1, i=0) if single else out


@with_shape(lambda bands: Spec(((*bands.shape[:-2], 1, 1), BOOL)))
def has_nonzero_pivots(bands: Any) -> Any:
    """Whether an elimination without pivoting meets no zero, (..., 1, 1)."""
    above, main, below = (bands[..., i, :] for i in range(3))
    fine = np.ones((*bands.shape[:-2], 1, 1), bool)
    pivot: Any = None
    with np.errstate(all="ignore"):
        for i in range(main.shape[-1]):
            step = below[..., i] * above[..., i - 1] / pivot if i else 0
            pivot = main[..., i] - step
            fine = fine & np.not_equal(pivot, 0)[..., None, None]
    return fine


@public
def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """Product of tridiagonal matrices, given as for `tridiagonal_solve`, and `rhs` (..., n, m).

    Args:
        diagonals: three diagonals, in the form that `diagonals_format` names.
        rhs: a tensor (..., n, m).
        diagonals_format: "compact", "sequence" or "matrix".
        name: has no effect here.

    Returns:
        A tensor (..., n, m).
    """
    bands, b = as_compact_diagonals(diagonals, diagonals_format), convert(rhs)
    check_same_dtype("TridiagonalMatMul", check_dtype("TridiagonalMatMul", bands, MATRIX_DTYPES), b)
    shape, right = bands._array.shape, b._array.shape
    if len(shape) != len(right) or shape[:-2] != right[:-2] or shape[-1] != right[-2]:
        raise InvalidArgumentError(
            "tridiagonal_matmul: All input tensors must have the same rank and outer dimensions. "
            f"Received diagonals of shape {list(shape)} and rhs of shape {list(right)}."
        )
    return band_matrix.banded_matmul(bands, b, below=1)


@public
def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solution `x` of A @ x = rhs for triangular band matrices.

    Args:
        bands: (..., k, n), the diagonals from the highest down, element i from row i.
        rhs: (..., n, m).
        lower: whether A is lower triangular, so that the main diagonal is the first of `bands`;
            otherwise it is the last.
        adjoint: whether to use the conjugate transpose of A.
        name: has no effect here.

    Returns:
        A tensor (..., n, m).
    """
    a, b = as_float_matrices("BandedTriangularSolve", bands), convert(rhs)
    check_same_dtype("BandedTriangularSolve", a, b)
    k, n = a._array.shape[-2:]
    if b._array.ndim < 2 or b._array.shape[-2] != n:
        raise InvalidArgumentError(
            f"banded_triangular_solve: In[0] mismatch In[1] shape. Received bands {a.shape} and "
            f"rhs {b.shape}."
        )
    check_nonzero_diagonal(a, 0 if lower else k - 1)
    below = k - 1 if lower else 0
    if adjoint:
        a = band_matrix.transpose_bands(e.conj(a) if a._array.dtype.kind == "c" else a, below)
        below = k - 1 - below
    return band_matrix.banded_solve(a, b, below=below, crossed=False)


@side_effect(fails_only=True)
def check_nonzero_diagonal(bands: Any, main: int) -> None:
    """Raise if band number `main`, the main diagonal, has a zero."""
    if not np.all(bands._array[..., main, :] != 0):
        raise InvalidArgumentError(
            "banded_triangular_solve: Input matrix is not invertible. There is a zero on the "
            "diagonal."
        )


@with_shape(found_positions)
def positions_between(values: Any, low: Any, high: Any) -> Any:
    """Positions of the raw ascending values in (low, high]."""
    inside = (values > low) & (values <= high)
    first = int(np.argmax(inside))
    return np.arange(first, first + int(inside.sum()))


@public
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues, and optionally eigenvectors, of Hermitian tridiagonal matrices.

    Args:
        alpha: (..., n), the main diagonal.
        beta: (..., n - 1), the superdiagonal.
        eigvals_only: whether to return the eigenvalues alone.
        select: "a" for all, "v" for eigenvalues in the interval `select_range`, "i" for those
            whose index, in ascending order, lies in it.
        select_range: the lower and upper end, both included for "i".
        tol: ignored; the result is as accurate as the dtype allows.
        name: has no effect here.

    Returns:
        Eigenvalues (..., n), and eigenvectors (..., n, n) unless `eigvals_only`.
    """
    a, b = check_dtype("eigh_tridiagonal", convert(alpha), MATRIX_DTYPES), convert(beta)
    n = a._array.shape[-1]
    if select not in ("a", "v", "i"):
        raise ValueError(f"'select must have a value in {{'a', 'i', 'v'}}. Got {select}.")
    if select == "v" and a._array.ndim > 1:
        raise InvalidArgumentError(
            "eigh_tridiagonal: alpha must be a vector with select='v', because matrices may have "
            f"different numbers of eigenvalues in an interval. Received shape {a._array.shape}. "
            "Select from each matrix separately."
        )
    dense = diagonal_ops.place_diagonal(a, rows=n, columns=n)
    if n > 1:
        below = e.conj(b) if b._array.dtype.kind == "c" else b
        dense = e.add(dense, diagonal_ops.place_diagonal(below, rows=n, columns=n, offset=-1))
        dense = e.add(dense, diagonal_ops.place_diagonal(b, rows=n, columns=n, offset=1))
    values, vectors = eigen.eigh_or_nan(dense)
    if select != "a":
        low, high = (convert(x) for x in select_range)
        if select == "i":
            which: Any = np.arange(int(low._array), int(high._array) + 1)
        else:
            which = apply_raw(positions_between, values, low, high, dynamic=True)
        values, vectors = (take(x, which, axis=-1) for x in (values, vectors))
    return values if eigvals_only else (values, vectors)
