"""The current iteration over a dataset: the random ops of its functions restart in each.

In TensorFlow every iterator has its own kernels, which start at the seeds of their ops. Iterations
that an iterator starts itself (the next round of `repeat`, the datasets of `flat_map`) belong to
it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class Pass:
    """One iteration over a dataset.

    Attributes:
        places: for each function's streams, their counters while another iteration uses them.
    """

    def __init__(self) -> None:
        """Start without saved counters."""
        self.places: dict[Any, Any] = {}


class Ongoing(threading.local):
    """The iteration that a thread currently works for."""

    now: Pass | None = None
    quietly: bool = False  # whether user functions may be traced only, not called on placeholders


ongoing = Ongoing()


class NotQuietly(Exception):  # noqa: N818  not an error
    """The element spec needs a call of a user function, which may have side effects."""


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """In this scope, inferring an element spec calls no user function on placeholders."""
    before, ongoing.quietly = ongoing.quietly, True
    try:
        yield
    finally:
        ongoing.quietly = before


@contextlib.contextmanager
def working_for(one: Pass | None) -> Iterator[None]:
    """Iterations that start in this scope belong to `one`."""
    before, ongoing.now = ongoing.now, one
    try:
        yield
    finally:
        ongoing.now = before
