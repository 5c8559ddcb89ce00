"""The raw arrays that stand behind the operands of a trace."""

from __future__ import annotations

from typing import Any

from gradtape.core.symbolic_tensor import (
    SymbolicTensor,
)
from gradtape.core.tensor import Tensor


def raw_value(lifted: Any) -> Any:
    """The raw array of a lifted argument."""
    if isinstance(lifted, SymbolicTensor):
        return lifted._array.traced_value
    return lifted._array if isinstance(lifted, Tensor) else lifted
