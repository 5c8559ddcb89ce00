"""The operators of RaggedTensor; `gradtape.tf.ragged` applies them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from gradtape.core.ports import RaggedPort

if TYPE_CHECKING:
    from gradtape.core.ragged.tensor import RaggedTensor

OPERATORS = """
    abs add and eq floordiv ge gt invert le lt mod mul ne neg or pow radd rand rfloordiv rmod rmul
    ror rpow rsub rtruediv rxor sub truediv xor
"""


class RaggedOperators:
    """The part of RaggedTensor with the methods of operators, such as `__add__`."""

    if TYPE_CHECKING:  # defined below

        def __add__(self, other: Any) -> RaggedTensor: ...
        def __sub__(self, other: Any) -> RaggedTensor: ...
        def __mul__(self, other: Any) -> RaggedTensor: ...
        def __truediv__(self, other: Any) -> RaggedTensor: ...
        def __rsub__(self, other: Any) -> RaggedTensor: ...
        def __neg__(self) -> RaggedTensor: ...

    def __bool__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError("RaggedTensor may not be used as a boolean.")


def make_ragged_operator(name: str) -> Any:
    """Make the operator method `name` of ragged tensors."""

    def operate(*operands: Any) -> Any:
        return RaggedPort.apply_operator(name, *operands)

    operate.__name__ = operate.__qualname__ = name
    return operate


for word in OPERATORS.split():
    setattr(RaggedOperators, f"__{word}__", make_ragged_operator(f"__{word}__"))
