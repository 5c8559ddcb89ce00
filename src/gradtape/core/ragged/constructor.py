"""The factory methods of RaggedTensor; `gradtape.tf.ragged` computes the partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.ports import RaggedPort

if TYPE_CHECKING:
    from gradtape.core.ragged.tensor import RaggedTensor


class RaggedConstructors:
    """The part of RaggedTensor that makes ragged tensors from values and a description of rows."""

    @classmethod
    @public
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows given by `row_splits`.

        Args:
            values: the values of all rows, one after the other.
            row_splits: the start of each row, followed by the end of the last one.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.

        Example:
            >>> tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3])
            <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        return RaggedPort.method_module().partition_values(
            values, "from_row_splits", validate, row_splits
        )

    @classmethod
    @public
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows given by their lengths.

        Args:
            values: the values of all rows, one after the other.
            row_lengths: a vector of lengths.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        return RaggedPort.method_module().partition_values(
            values, "from_row_lengths", validate, row_lengths
        )

    @classmethod
    @public
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """`nrows` rows, given by the row number of each value; by default up to the last number.

        Args:
            values: the values of all rows, one after the other.
            value_rowids: the row number of each value, in ascending order.
            nrows: the number of rows, or None.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        return RaggedPort.method_module().partition_values(
            values, "from_value_rowids", validate, value_rowids, nrows
        )

    @classmethod
    @public
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows given by their starts.

        Args:
            values: the values of all rows, one after the other.
            row_starts: the start of each row; the first is 0.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        return RaggedPort.method_module().partition_values(
            values, "from_row_starts", validate, row_starts
        )

    @classmethod
    @public
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows given by their ends.

        Args:
            values: the values of all rows, one after the other.
            row_limits: the end of each row.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        return RaggedPort.method_module().partition_values(
            values, "from_row_limits", validate, row_limits
        )

    @classmethod
    @public
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Rows of one length; `nrows` is needed only if the length is zero.

        Args:
            values: the values of all rows, one after the other.
            uniform_row_length: the length of every row.
            nrows: the number of rows, or None.
            validate: whether to check the description of the rows.
            name: has no effect here.

        Returns:
            A RaggedTensor.
        """
        given = (uniform_row_length, nrows)
        return RaggedPort.method_module().partition_values(
            values, "from_uniform_row_length", validate, *given
        )

    @classmethod
    @public
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Nested rows, given by the splits of each axis, outermost first.

        Args:
            flat_values: the values of the innermost rows.
            nested_row_splits: a list of row splits, outermost first.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        given = (flat_values, nested_row_splits)
        return RaggedPort.method_module().partition_values_nested(
            "from_row_splits", validate, *given
        )

    @classmethod
    @public
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Nested rows, given by the lengths of each axis, outermost first.

        Args:
            flat_values: the values of the innermost rows.
            nested_row_lengths: a list of vectors of lengths, outermost first.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        given = (flat_values, nested_row_lengths)
        return RaggedPort.method_module().partition_values_nested(
            "from_row_lengths", validate, *given
        )

    @classmethod
    @public
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Nested rows, given by the row numbers of each axis, outermost first.

        Args:
            flat_values: the values of the innermost rows.
            nested_value_rowids: a list of vectors of row numbers, outermost first.
            nested_nrows: a list of numbers of rows, or None.
            name: has no effect here.
            validate: whether to check the description of the rows.

        Returns:
            A RaggedTensor.
        """
        given = (flat_values, nested_value_rowids, nested_nrows)
        return RaggedPort.method_module().partition_values_nested(
            "from_value_rowids", validate, *given
        )

    @classmethod
    @public
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:
        """The rows of a tensor, truncated to `lengths` or before trailing `padding`.

        Args:
            tensor: a tensor of rank 2 or more.
            lengths: the length of each row, or None.
            padding: the value at the end of rows that is dropped, or None.
            ragged_rank: the number of ragged axes.
            name: has no effect here.
            row_splits_dtype: int32 or int64.

        Returns:
            A RaggedTensor.

        Example:
            >>> tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0)
            <tf.RaggedTensor [[1, 2], [3]]>
        """
        given = (lengths, padding, ragged_rank, row_splits_dtype)
        return RaggedPort.method_module().from_tensor(tensor, *given)

    @classmethod
    @public
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix; the elements of each row must start at 0 without gaps.

        Args:
            st_input: a SparseTensor of rank 2.
            name: has no effect here.
            row_splits_dtype: int32 or int64.

        Returns:
            A RaggedTensor.
        """
        return RaggedPort.method_module().from_sparse(st_input, row_splits_dtype)
