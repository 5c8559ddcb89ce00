"""Operators that are convolutions: circulant and Toeplitz matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.dtypes import as_dtype
from gradtape.core.tensor import make_tensor
from gradtape.ops import elementwise as e
from gradtape.ops import shape as s
from gradtape.ops.gather_scatter import take
from gradtape.ops.reduce import reduce_prod, reduce_sum
from gradtape.ops.signal.fft import fft, ifft
from gradtape.tf.linalg.linear_operator.base import LinearOperator
from gradtape.tf.linalg.linear_operator.matrix import hint_arguments
from gradtape.tf.linalg.linear_operator.operand import (
    COMPLEX_DTYPE_OF,
    as_float_tensor,
    broadcast_batch,
    read_tensor,
)


class Circulant(LinearOperator):
    """A convolution over `_block_depth` periodic axes, given by its Fourier transform."""

    _block_depth: int

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        """Store the spectrum.

        Args:
            spectrum: the eigenvalues, with one last axis for each axis of the convolution.
            input_output_dtype: the dtype of the matrix.
            is_non_singular: a hint, as for every operator.
            is_self_adjoint: a hint; a real spectrum implies it.
            is_positive_definite: a hint.
            is_square: a hint.
            name: the name of the operator.
        """
        self._spectrum = as_float_tensor(spectrum)
        if len(self._spectrum.shape) < self._block_depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self._block_depth} axes. Received "
                f"{self._spectrum.shape}."
            )
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        super().__init__(
            input_output_dtype,
            **hint_arguments(
                is_non_singular,
                is_self_adjoint,
                is_positive_definite,
                True,
                name or type(self).__name__,
            ),
        )

    @property
    def spectrum(self) -> Any:
        """The eigenvalues."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """The number of axes of the convolution."""
        return self._block_depth

    @property
    def block_shape(self) -> Any:
        """The sizes of the axes of the convolution."""
        return self._spectrum.shape[-self._block_depth :]

    def _shape_tuple(self) -> tuple[int, ...]:
        shape = tuple(self._spectrum.shape)
        n = int(np.prod(shape[-self._block_depth :]))
        return (*shape[: -self._block_depth], n, n)

    def _complex_dtype(self) -> Any:
        """The complex NumPy dtype of intermediate results."""
        wide = COMPLEX_DTYPE_OF.get(self._dtype, self._dtype)
        return np.dtype(as_dtype(wide).as_numpy_dtype)

    def _eigenvalues(self, adjoint: bool) -> Any:
        """The complex spectrum, with a last axis of length one that broadcasts over columns."""
        values = e.cast(read_tensor(self._spectrum), dtype=self._complex_dtype())
        values = e.conj(values) if adjoint else values
        return s.reshape(values, shape=(*values._array.shape, 1), rank=values._array.ndim)

    def _apply_spectrum(self, x: Any, values: Any) -> Any:
        """Multiply the Fourier transform of the rows of `x` by `values`, and transform back."""
        kind = x._array.dtype
        x = broadcast_batch(e.cast(x, dtype=self._complex_dtype()), self._shape_tuple()[:-2], 2)
        shape, block = x._array.shape, tuple(self._spectrum.shape[-self._block_depth :])
        x = s.reshape(x, shape=(*shape[:-2], *block, shape[-1]), rank=len(shape))
        axes = range(-1 - self._block_depth, -1)
        for axis in axes:
            x = fft(x, axis=axis)
        x = e.multiply(x, values)
        for axis in axes:
            x = ifft(x, axis=axis)
        return e.cast(s.reshape(x, shape=shape, rank=x._array.ndim), dtype=kind)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._apply_spectrum(x, self._eigenvalues(adjoint))

    def _solve(self, x: Any, adjoint: bool) -> Any:
        return self._apply_spectrum(x, e.reciprocal(self._eigenvalues(adjoint)))

    def _flat_eigenvalues(self) -> Any:
        """The complex eigenvalues (..., n)."""
        shape = tuple(self._spectrum.shape)
        n = int(np.prod(shape[-self._block_depth :]))
        values = e.cast(read_tensor(self._spectrum), dtype=self._complex_dtype())
        return s.reshape(values, shape=(*shape[: -self._block_depth], n), rank=len(shape))

    def _to_own_dtype(self, x: Any) -> Any:
        return e.cast(x, dtype=np.dtype(self._dtype.as_numpy_dtype))

    def _diag_part(self) -> Any:
        n = self._shape_tuple()[-1]
        mean = reduce_sum(self._flat_eigenvalues(), axis=(-1,), keepdims=True) / n
        ones = make_tensor(np.ones(n, self._complex_dtype()))
        return self._to_own_dtype(e.multiply(mean, ones))

    def _determinant(self) -> Any:
        return self._to_own_dtype(reduce_prod(self._flat_eigenvalues(), axis=(-1,), keepdims=False))

    def _log_abs_determinant(self) -> Any:
        sizes = e.log(e.absolute(self._flat_eigenvalues()))
        return self._to_own_dtype(reduce_sum(sizes, axis=(-1,), keepdims=False))

    def _eigvals(self) -> Any:
        return self._to_own_dtype(self._flat_eigenvalues())

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """The convolution kernel: the inverse Fourier transform of the spectrum.

        Args:
            name: has no effect here.

        Returns:
            A tensor of the spectrum's shape.
        """
        x = e.cast(read_tensor(self._spectrum), dtype=self._complex_dtype())
        for axis in range(-self._block_depth, 0):
            x = ifft(x, axis=axis)
        return self._to_own_dtype(x)

    def _with_spectrum(self, spectrum: Any) -> LinearOperator:
        return type(self)(spectrum, input_output_dtype=self._dtype)

    def _inverse(self) -> LinearOperator:
        return self._with_spectrum(e.reciprocal(read_tensor(self._spectrum)))

    def _adjoint(self) -> LinearOperator:
        return self._with_spectrum(e.conj(read_tensor(self._spectrum)))


class LinearOperatorCirculant(Circulant):
    """Circulant matrices: each row is the row above, shifted by one."""

    _block_depth = 1


class LinearOperatorCirculant2D(Circulant):
    """Block circulant matrices: convolutions over two periodic axes."""

    _block_depth = 2


class LinearOperatorCirculant3D(Circulant):
    """Nested block circulant matrices: convolutions over three periodic axes."""

    _block_depth = 3


class LinearOperatorToeplitz(LinearOperator):
    """Matrices with constant diagonals: `col` is the first column, `row` the first row."""

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = "LinearOperatorToeplitz",
    ) -> None:
        """Store the first column and row; their first elements should be equal."""
        self._col, self._row = as_float_tensor(col), as_float_tensor(row)
        if is_square is False:
            raise ValueError("Only square Toeplitz operators are supported.")
        super().__init__(
            self._col.dtype,
            **hint_arguments(is_non_singular, is_self_adjoint, is_positive_definite, True, name),
        )

    @property
    def col(self) -> Any:
        """The first column."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row."""
        return self._row

    def _shape_tuple(self) -> tuple[int, ...]:
        batch = np.broadcast_shapes(tuple(self._col.shape[:-1]), tuple(self._row.shape[:-1]))
        n = self._col.shape[-1]
        return (*batch, n, n)

    def _to_dense(self) -> Any:
        *batch, n, _ = self._shape_tuple()
        col, row = (
            broadcast_batch(read_tensor(t), tuple(batch), 1) for t in (self._col, self._row)
        )
        rest = s.slice_axis(row, axis=-1, start=1, size=n - 1)
        both = s.concat(s.flip(col, axes=(-1,)), rest, axis=-1)
        i = np.arange(n)
        return take(both, n - 1 - i[:, None] + i, axis=-1)
