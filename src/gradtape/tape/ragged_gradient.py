"""The part of a ragged tensor that carries its gradient: the flat values."""

from __future__ import annotations

from typing import Any

from gradtape.core.ragged.tensor import RaggedTensor


def differentiable_part(value: Any) -> Any:
    """The flat values of a ragged tensor; any other value unchanged."""
    return value.flat_values if isinstance(value, RaggedTensor) else value


def replace_differentiable_part(value: Any, part: Any) -> Any:
    """A ragged tensor like `value` with the flat values `part`; otherwise `part` itself."""
    return value.with_flat_values(part) if isinstance(value, RaggedTensor) else part
