"""Spec of a TensorArray."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import check_instance
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TypeSpec
from gradtape.tf.array.tensor_array import TensorArray


class TensorArraySpec(TypeSpec):
    """Spec of a TensorArray: element shape, dtype, and whether it grows and infers shapes."""

    __slots__ = ("_parts",)

    @public
    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = dtypes.float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        """Make the spec of an array of such elements."""
        self._parts = TensorShape(element_shape), dtypes.as_dtype(dtype), dynamic_size, infer_shape

    @property
    def value_type(self) -> Any:
        """The class TensorArray."""
        return TensorArray

    @classmethod
    @public
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """The most specific spec of `value`.

        Args:
            value: a `TensorArray`.

        Returns:
            A new `TensorArraySpec`.
        """
        check_instance(value, TensorArray, "value")
        return cls(value._element_shape, value._dtype, value._dynamic_size, value._infer_shape)

    def _serialize(self) -> tuple[Any, ...]:
        return self._parts

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: TensorArray) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components
