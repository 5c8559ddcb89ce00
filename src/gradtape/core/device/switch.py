"""Code that knows of accelerators takes over from code that does not when the first one is used.

Programs on the CPU, nearly all of them, so pay nothing for the others: not one comparison. What has
to know is written twice, side by side, and the second takes the place of the first for good.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from gradtape.core.lock import Lock

in_use = [False]  # whether a value may live elsewhere than on the host
PAIRS: list[tuple[Any, Any]] = []
THEN: list[Callable[[], None]] = []
turning = Lock()


def once_in_use(plain: Any) -> Callable[[Any], Any]:
    """Decorate what the function `plain`, of the same module, becomes; it finds it as `.plain`."""

    def decorate(aware: Any) -> Any:
        assert aware.__globals__ is plain.__globals__
        aware.plain = FunctionType(plain.__code__, plain.__globals__, plain.__name__)
        PAIRS.append((plain, aware))
        if in_use[0]:
            plain.__code__ = aware.__code__
        return aware

    return decorate


def use_accelerators() -> None:
    """From now on values may live elsewhere than on the host."""
    with turning:
        if in_use[0]:
            return
        in_use[0] = True
        for plain, aware in PAIRS:
            plain.__code__ = aware.__code__
        for act in THEN:
            act()
