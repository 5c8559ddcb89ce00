"""Passes over datasets: in each, the random ops of the dataset's functions begin anew.

TensorFlow gives every iterator kernels of its own, which start at the seeds of their ops. What an
iterator begins on its way (the next round of `repeat`, the datasets of `flat_map`) belongs to it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class Pass:
    """One pass over a dataset.

    Attributes:
        places: where the streams of functions stand whose turn it is not, by streams.
    """

    def __init__(self) -> None:
        """Nothing was drawn yet."""
        self.places: dict[Any, Any] = {}


class Ongoing(threading.local):
    """What a thread works for."""

    now: Pass | None = None
    quietly: bool = False  # whether functions may only be traced, not called on stand-ins


ongoing = Ongoing()


class NotQuietly(Exception):  # noqa: N818  not an error
    """What elements look like is found out by calling a function only, which may do something."""


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """In this block no function of a dataset is called on stand-ins for elements."""
    before, ongoing.quietly = ongoing.quietly, True
    try:
        yield
    finally:
        ongoing.quietly = before


@contextlib.contextmanager
def working_for(one: Pass | None) -> Iterator[None]:
    """Let what is begun in this block belong to a pass."""
    before, ongoing.now = ongoing.now, one
    try:
        yield
    finally:
        ongoing.now = before
