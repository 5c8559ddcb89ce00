"""FoundPaths: the part of a specialization for sizes that only data determines."""

from __future__ import annotations

from typing import Any

from gradtape.core.context import local
from gradtape.core.ledger import ledger
from gradtape.core.ports import devices
from gradtape.jit.executable import Executable
from gradtape.jit.guard_tree import MAX_PATHS, GuardMiss, GuardTree
from gradtape.jit.open_run import OpenPlan, OpenRun
from gradtape.jit.open_signature import OpenTrace
from gradtape.jit.signature import Call
from gradtape.jit.trace_path import TracedPath

MAX_FOUND_SIZES = 64  # remembered


class FoundPaths:
    """Base class of Specialization.

    Attributes:
        tree: the paths traced so far, or None.
        executable: what runs calls; None after a new path.
        found_traces: traces with sizes that only a run finds.
        found_sizes: the sizes that runs have found, each once.
    """

    def __init__(self) -> None:
        """Start without a trace."""
        self.tree: GuardTree | None = None
        self.executable: Any = None
        self.found_traces: list[OpenTrace] = []
        self.found_sizes: set[Any] = set()

    def run_open_path(self, call: Call, log: list[tuple[str, Any]]) -> tuple[Any] | None:
        """(The result of a run that has met new sizes,) or None if a path must be added.

        Sizes that are found a second time get a path of their own, with a plan.
        """
        if local.recorders or ledger.active or devices.active:
            return None
        for one in self.found_traces:
            if one.path.effects:
                continue
            plan = OpenPlan(one)
            try:
                result = Executable(plan, one.path).run(call.tensors, call.variables)
            except GuardMiss:
                continue
            sizes = tuple(plan.sizes.values())
            if sizes not in self.found_sizes:
                self.found_sizes.add(sizes)
                if len(self.found_sizes) > MAX_FOUND_SIZES:
                    self.found_sizes.clear()
            elif self.tree is None or self.tree.paths < MAX_PATHS:
                self.add_found_path(one.path.specialise(plan.sizes))
            return (result,)
        return None

    def add_path_for_run(
        self, call: Call, log: list[tuple[str, Any]]
    ) -> list[tuple[str, Any]] | None:
        """Add the path for a run that has met new sizes; None if no trace serves it.

        Returns the guards and side effects of the run, which has had some more of them.
        """
        raws = [t._array for t in call.tensors]
        for one in self.found_traces:
            given = [t._array for t in one.path.captures]
            variables = one.path.resolve_variables(call.variables)
            given += [v._stored_version()._array for v in variables]
            try:
                run = OpenRun(one, [*raws, *given], log)
                run.run()
            except GuardMiss as miss:
                log[:] = miss.log
                continue
            self.add_found_path(one.path.specialise(run.env))
            return run.log
        return None

    def add_found_path(self, path: TracedPath) -> None:
        """Add the path for sizes that a run has found."""
        if self.tree is None or self.tree.paths >= MAX_PATHS:
            self.tree, self.executable = GuardTree(path), None
        else:
            self.tree.add(path)
