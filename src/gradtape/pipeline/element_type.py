"""The type variable of datasets and iterators: what type checkers know about an element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    E = TypeVar("E", default=Any)
else:
    from typing import TypeVar

    E = TypeVar("E")
