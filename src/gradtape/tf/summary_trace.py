"""tf.summary: graphs and profiles in event files."""

from __future__ import annotations

from typing import Any

from gradtape.core.context import current_trace
from gradtape.core.errors import public
from gradtape.core.log import get_log


class SummaryTrace:
    """Whether `trace_on` was called; one flag for all threads."""

    is_active = False


@public
def trace_on(
    graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None
) -> None:
    """Start a trace: accepted for compatibility, but nothing is recorded.

    Args:
        graph: has no effect here.
        profiler: has no effect here.
        profiler_outdir: has no effect here.

    Returns:
        None.

    Note:
        TensorBoard shows graphs of TensorFlow's ops only. `concrete_function.pretty()` prints
        a graph of gradtape.
    """
    if not current_trace():
        SummaryTrace.is_active = True


@public
def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Stop a trace: accepted for compatibility, but nothing is written; see `trace_on`.

    Args:
        name: has no effect here.
        step: has no effect here.
        profiler_outdir: has no effect here.

    Returns:
        None.

    Raises:
        ValueError: if `trace_on` was not called.
    """
    if current_trace():
        return
    if not SummaryTrace.is_active:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    SummaryTrace.is_active = False
    get_log().warning("tf.summary.trace_export: gradtape writes no graphs for TensorBoard.")


def trace_off() -> None:
    """Stop a trace without writing it.

    Returns:
        None.
    """
    SummaryTrace.is_active = False
