"""The current iteration over a dataset: the random ops of its functions restart in each.

In TensorFlow every iterator has its own kernels, which start at the seeds of their ops. Iterations
that an iterator starts itself (the next round of `repeat`, the datasets of `flat_map`) belong to
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradtape.core.outer_scope import current_iteration as current_iteration
from gradtape.core.outer_scope import get_outer_values


class Iteration:
    """One iteration over a dataset.

    Attributes:
        stream_positions: for each function's streams, their counters while another iteration uses
            them.
        outer_values: raw values of outer tensors: see `graph/outer_tensor.py`. An iteration that
            starts inside of another one has the same.
        file_shard: the point of the pipeline where files are divided, the number of the worker
            and that of all workers; None if the iteration reads all files.
    """

    def __init__(self) -> None:
        """Start without saved counters."""
        self.stream_positions: dict[Any, Any] = {}
        self.outer_values = get_outer_values()
        self.file_shard: tuple[Any, int, int] | None = None


class NeedsPythonCall(Exception):  # noqa: N818  not an error
    """The element spec needs a call of a user function, which may have side effects."""


@contextlib.contextmanager
def forbid_python_calls() -> Iterator[None]:
    """In this scope, inferring an element spec calls no user function on placeholders."""
    before, current_iteration.is_trace_only = current_iteration.is_trace_only, True
    try:
        yield
    finally:
        current_iteration.is_trace_only = before


@contextlib.contextmanager
def use_iteration(one: Iteration | None) -> Iterator[None]:
    """Iterations that start in this scope belong to `one`."""
    before, current_iteration.active = current_iteration.active, one
    try:
        yield
    finally:
        current_iteration.active = before
