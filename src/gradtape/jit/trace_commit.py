"""Commit of a trace: the first call of a function writes its variables."""

from __future__ import annotations

from operator import attrgetter

from gradtape.graph.trace import Trace
from gradtape.state.variable.commit import commit, make_versions

VARIABLE_OF = attrgetter("variable")


def commit_trace(trace: Trace) -> bool:
    """Store the newest values of the variables that a trace has written.

    Returns False if another call has changed one of its variables meanwhile.
    """
    states = list(trace.versions.states.values())
    if not states:
        return True
    written = [s for s in states if s.is_written]
    variables = list(map(VARIABLE_OF, written))
    fresh = make_versions(variables, [s.newest._array.traced_value for s in written])
    return commit(
        variables, fresh, list(map(VARIABLE_OF, states)), trace.versions.stored_versions()
    )
