"""TypeSpec and TensorSpec: static descriptions of values."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from gradtape.core import nest
from gradtape.core.dtypes import DType, as_dtype, float32
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape


class TypeSpec(ABC):
    """The type of a value that is made of tensors.

    A subclass returns its constructor arguments from `_serialize`. Equality, compatibility and
    subtyping compare these arguments one by one.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def value_type(self) -> Any:
        """The Python type of the values described."""

    @property
    @abstractmethod
    def _component_specs(self) -> Any:
        """The specs of the tensors in a value, nested as `_to_components` nests them."""

    @abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The tensors that make up `value`."""

    @abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value made up of these tensors."""

    @abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The arguments that make a spec equal to this one."""

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        return cls(*serialization)

    @public
    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether `spec_or_value` is, or describes, a value of this type.

        Args:
            spec_or_value: a spec, or a value such as a tensor.

        Returns:
            True if it is compatible.
        """
        pairs = self._match_pieces([type_spec_of(spec_or_value)])
        return pairs is not None and all(
            x.is_compatible_with(y) if hasattr(x, "is_compatible_with") else x == y
            for x, y in pairs
        )

    @public
    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` describes every value that this spec describes.

        Args:
            other: another spec.

        Returns:
            True if `other` is at least as general as this spec.
        """
        pairs = self._match_pieces([other])
        return pairs is not None and all(
            x.is_subtype_of(y) if hasattr(x, "is_subtype_of") else x == y for x, y in pairs
        )

    @public
    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The most specific spec that describes this one and all of `others`, or None.

        Args:
            others: a sequence of specs.

        Returns:
            A spec, or None if no spec describes them all.
        """
        groups = self._match_pieces(others)
        if groups is None:
            return None
        pieces = []
        for piece, *rest in groups:
            if hasattr(piece, "most_specific_common_supertype"):
                pieces.append(piece.most_specific_common_supertype(rest))
                if pieces[-1] is None:
                    return None
            elif all(piece == other for other in rest):
                pieces.append(piece)
            else:
                return None
        return self._deserialize(nest.pack_sequence_as(self._serialize(), pieces))

    @public
    def most_specific_compatible_type(self, other: Any) -> Any:
        """The most specific spec that describes both this one and `other`.

        Args:
            other: another spec.

        Returns:
            A spec.
        """
        spec = self.most_specific_common_supertype([other])
        if spec is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return spec

    def _match_pieces(self, others: Sequence[Any]) -> list[tuple[Any, ...]] | None:
        """Corresponding constructor arguments of all specs; None if their structures differ."""
        if any(type(other) is not type(self) for other in others):
            return None
        mine, theirs = self._serialize(), [other._serialize() for other in others]
        try:
            for each in theirs:
                nest.assert_same_structure(mine, each)
        except (TypeError, ValueError):
            return None
        return list(zip(*map(nest.flatten, (mine, *theirs)), strict=True))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash((type(self), *nest.flatten(self._serialize())))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


class TensorSpec(TypeSpec):
    """The shape, dtype and name of a tensor."""

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @classmethod
    @public
    def from_spec(cls, spec: Any, name: str | None = None) -> "TensorSpec":
        """The shape and dtype of `spec`, and its name unless another is given.

        Args:
            spec: a spec with a shape and a dtype.
            name: the name of the new spec.

        Returns:
            A new `TensorSpec`.
        """
        if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
            raise TypeError(f"spec must have a shape and a dtype. Received {spec!r:.60}.")
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    @public
    def from_tensor(cls, tensor: Any, name: str | None = None) -> "TensorSpec":
        """The spec of `tensor`.

        Args:
            tensor: the tensor to describe.
            name: the name of the spec; for a tensor of a trace its own name if None.

        Returns:
            A new `TensorSpec`.
        """
        if not _is_tensor(tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> Any:
        """The class Tensor."""
        from gradtape.core.tensor import Tensor  # not at the top, to avoid an import cycle

        return Tensor

    @property
    def _component_specs(self) -> "TensorSpec":
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether the dtypes are equal and the shapes compatible; the name does not matter.

        Args:
            spec_or_tensor: a spec, or a tensor or what can be converted to one.

        Returns:
            True if it is compatible.
        """
        return (
            (isinstance(spec_or_tensor, TensorSpec) or _is_tensor(spec_or_tensor))
            and self._dtype == spec_or_tensor.dtype
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` describes these tensors; a spec without a name matches any name.

        Args:
            other: another spec.

        Returns:
            True if `other` is at least as general as this spec.
        """
        return (
            isinstance(other, TensorSpec)
            and self._name in (None, other._name)
            and self._dtype == other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        name, dtype = type(self).__name__, self._dtype
        return f"{name}(shape={self._shape}, dtype={dtype!r}, name={self._name!r})"


def _is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor; variables and IndexedSlices have no `ndim`."""
    return isinstance(getattr(value, "dtype", None), DType) and hasattr(value, "ndim")


def type_spec_of(value: Any) -> Any:
    """The spec of a tensor or composite; any other value unchanged."""
    if _is_tensor(value):
        return TensorSpec.from_tensor(value)
    return getattr(value, "_type_spec", value)
