"""TraceOptions: what a trace may do, and what its graph is made for."""

from __future__ import annotations

from typing import Any, NamedTuple


class TraceOptions(NamedTuple):
    """The options of a trace. They cannot be changed; `Trace.use_options` replaces them in a scope.

    Attributes:
        name: the name of the function, for messages.
        autograph: whether Python's control flow may depend on tensors.
        forbids_values: whether Python must not read values.
        has_fixed_shapes: whether shapes that depend on values need no guard.
        folds_constants: whether the result of an op on constants is a constant.
        max_nodes: how many nodes the graph may have before the trace gives up, or None.
        keeps_all_nodes: whether a trace that has given up still records nodes.
        choice: the `EngineChoice` of the graph, or None.
    """

    name: str = "trace"
    autograph: bool = True
    forbids_values: bool = False
    has_fixed_shapes: bool = False
    folds_constants: bool = True
    max_nodes: int | None = None
    keeps_all_nodes: bool = False
    choice: Any = None
