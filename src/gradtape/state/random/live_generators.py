"""All generators that exist, and their states around a recomputation."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from gradtape.core.context import current_trace
from gradtape.core.tensor import Tensor
from gradtape.tape.custom_gradient import RECOMPUTE_STATE

LIVE_GENERATORS: weakref.WeakSet[Any] = weakref.WeakSet()


def save_generators() -> Sequence[tuple[Any, Tensor]]:
    """The states of all generators; empty inside a trace, which tracks them itself."""
    if current_trace():
        return []
    return [(weakref.ref(g), g.state.read_value()) for g in list(LIVE_GENERATORS)]


def restore_generators(saved: Sequence[tuple[Any, Tensor]]) -> None:
    """Restore the states that `save_generators` returned."""
    for reference, state in saved:
        generator = reference()
        if generator is not None and generator.state._stored_version() is not state:
            generator.state.assign(state)


RECOMPUTE_STATE.append((save_generators, restore_generators))
