"""Methods of variables that update some rows or elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape.core.argument import check_instance
from gradtape.core.convert import convert
from gradtape.core.dtypes import DType
from gradtape.core.errors import public
from gradtape.state.variable import scatter_kernel
from gradtape.tape.indexed_slices import IndexedSlices


class ScatterMethods:
    """The scatter methods of a variable; all return an alias of the variable."""

    __slots__ = ()

    @property
    def dtype(self) -> DType:
        """The element type."""
        raise NotImplementedError

    _apply_update: Callable[..., Any]

    def _scatter_rows(self, how: str, slices: Any) -> Any:
        if not isinstance(slices, IndexedSlices):
            raise TypeError(
                f"scatter_{how}: Argument `sparse_delta` must be a `tf.IndexedSlices`. Received "
                f"{slices!r}."
            )
        values = convert(slices.values, self.dtype)._array
        return self._apply_update(
            scatter_kernel.update_rows, how, convert(slices.indices)._array, values
        )

    def _scatter_positions(self, how: str, indices: Any, updates: Any) -> Any:
        values = convert(updates, self.dtype)._array
        return self._apply_update(
            scatter_kernel.update_positions, how, convert(indices)._array, values
        )

    @public
    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Add IndexedSlices to the variable.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.

        Example:
            >>> v = tf.Variable([1.0, 2.0, 3.0])
            >>> v.scatter_add(tf.IndexedSlices([10.0, 20.0], [0, 2])).numpy()
            array([11.,  2., 23.], dtype=float32)
        """
        return self._scatter_rows("add", sparse_delta)

    @public
    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtract IndexedSlices from the variable.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_rows("sub", sparse_delta)

    @public
    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiply rows of the variable by IndexedSlices.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_rows("mul", sparse_delta)

    @public
    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divide rows of the variable by IndexedSlices.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_rows("div", sparse_delta)

    @public
    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of the variable by their maximum with IndexedSlices.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_rows("max", sparse_delta)

    @public
    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of the variable by their minimum with IndexedSlices.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_rows("min", sparse_delta)

    @public
    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of the variable by IndexedSlices; the last of repeated rows wins.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_rows("update", sparse_delta)

    @public
    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replace rows of each batch entry: `var[b, indices[b, k]] = values[b, k]`.

        Args:
            sparse_delta: IndexedSlices: rows and their positions along the first axis.
            use_locking: has no effect here.
            name: has no effect here.

        Returns:
            The variable.
        """
        check_instance(sparse_delta, IndexedSlices, "sparse_delta")
        values = convert(sparse_delta.values, self.dtype)._array
        return self._apply_update(
            scatter_kernel.update_batch_rows, convert(sparse_delta.indices)._array, values
        )

    @public
    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Add `updates` at the positions in the last axis of `indices`.

        Args:
            indices: positions (..., k): each addresses the first k axes.
            updates: values (..., *rest) for these positions.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_positions("add", indices, updates)

    @public
    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtract `updates` at the positions in the last axis of `indices`.

        Args:
            indices: positions (..., k): each addresses the first k axes.
            updates: values (..., *rest) for these positions.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_positions("sub", indices, updates)

    @public
    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Take the maximum with `updates` at the positions in the last axis of `indices`.

        Args:
            indices: positions (..., k): each addresses the first k axes.
            updates: values (..., *rest) for these positions.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_positions("max", indices, updates)

    @public
    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Take the minimum with `updates` at the positions in the last axis of `indices`.

        Args:
            indices: positions (..., k): each addresses the first k axes.
            updates: values (..., *rest) for these positions.
            name: has no effect here.

        Returns:
            The variable.
        """
        return self._scatter_positions("min", indices, updates)

    @public
    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Write `updates` to the positions in the last axis of `indices`.

        Args:
            indices: positions (..., k): each addresses the first k axes.
            updates: values (..., *rest) for these positions.
            name: has no effect here.

        Returns:
            The variable.

        Example:
            >>> v = tf.Variable([[1, 2], [3, 4]])
            >>> v.scatter_nd_update([[0, 1], [1, 0]], [20, 30]).numpy()
            array([[ 1, 20],
                   [30,  4]], dtype=int32)
        """
        return self._scatter_positions("update", indices, updates)
