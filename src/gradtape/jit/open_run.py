"""OpenRun: runs a graph of unknown sizes node by node, and finds the sizes that data determines.

Some sizes follow from the arguments. Others, such as those of `tf.where` or of an element of a
dataset, exist only while the graph runs. In the trace of a call they are unknown, with those of the
call as hints, and its path is specialised for the call. A later run that finds other sizes misses
the guard on a shape. Then this class runs the path of unknown sizes; Python does not run.
"""

from __future__ import annotations

from typing import Any

from gradtape.core.errors import OpError
from gradtape.core.open_shape import bind_shape
from gradtape.core.size_function import Env, SizeMismatchError
from gradtape.graph.graph import Constant
from gradtape.graph.guard import Guard, guard_key
from gradtape.graph.replay import lookup_operand
from gradtape.graph.specialise import specialise_node
from gradtape.jit.guard_tree import GuardMiss, run_node
from gradtape.jit.open_signature import OpenTrace

Log = list[tuple[str, Any]]


class OpenRun:
    """One run of a path of unknown sizes.

    Attributes:
        frame: raw values by number.
        env: the sizes that are known so far, by unknown.
        log: the guards and side effects so far.
    """

    def __init__(self, one: OpenTrace, raws: list[Any], log: Log) -> None:
        """Run on the raw arguments, captures and variables, with the side effects of `log`."""
        self.one, self.graph = one, one.path.graph
        self.frame: dict[int, Any] = {}
        self.env: Env = {}
        self.log: Log = []
        self.rest = list(log)
        self.guards: dict[int, list[Guard]] = {}
        for guard in one.path.guards:
            self.guards.setdefault(guard.position, []).append(guard)
        self.add_values(self.graph.inputs, raws)

    def run(self) -> None:
        """Run all nodes.

        Raises:
            GuardMiss: if the path does not serve the run. Its log has the side effects so far.
        """
        try:
            self.check_guards(0)
            for i, node in enumerate(self.graph.nodes):
                node = specialise_node(node, self.env)
                raws = tuple([lookup_operand(self.frame, operand) for operand in node.inputs])
                if getattr(node.op, "is_replayed", False):
                    made = self.run_effect(node, raws)
                else:
                    made = run_node(node, raws)
                self.add_values(node.outputs, made)
                self.check_guards(i + 1)
        except (OpError, SizeMismatchError, ZeroDivisionError, ValueError):
            # The sizes do not fit, or the op raises: Python tells which, with the user's line.
            raise GuardMiss(self.full_log()) from None

    def full_log(self) -> Log:
        """The guards and side effects so far, and those of the earlier run that come later."""
        return [*self.log, *self.rest]

    def run_effect(self, node: Any, raws: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results of a side effect, from the log or by a call."""
        if self.rest and self.rest[0][0] == node.op.name:
            made = self.rest.pop(0)[1]
        else:
            self.rest = []
            made = node.op.kernel(*raws)
        self.log.append((node.op.name, made))
        found: tuple[Any, ...] = made
        return found

    def add_values(self, numbers: Any, raws: Any) -> None:
        """Add values, and the sizes that they have.

        Raises:
            GuardMiss: if the sizes violate an assumption.
        """
        known = len(self.env)
        for number, raw in zip(numbers, raws, strict=True):
            self.frame[number] = raw
            if not bind_shape(self.graph.specs[number].shape, raw.shape, self.env):
                raise GuardMiss(self.full_log())
        if len(self.env) > known and not self.one.sizes.holds(self.env):
            raise GuardMiss(self.full_log())

    def check_guards(self, position: int) -> None:
        """Compare what Python has read after so many nodes.

        Raises:
            GuardMiss: if a guard sees another value. The sizes of a shape have been compared.
        """
        for guard in self.guards.get(position, ()):
            raw = self.frame[guard.number]
            seen = raw.shape if guard.kind == "shape" else guard_key(raw)
            if self.rest and self.rest[0] == ("guard", seen):
                self.rest.pop(0)
            else:
                self.rest = []
            self.log.append(("guard", seen))
            if guard.unknown is not None:
                self.env[guard.unknown] = seen
                if not self.one.sizes.holds(self.env):
                    raise GuardMiss(self.full_log())
            elif guard.kind != "shape" and seen != guard.expected:
                raise GuardMiss(self.full_log())

    def outputs(self) -> tuple[Any, ...]:
        """The raw outputs."""
        operands = self.graph.outputs
        return tuple([o.raw if isinstance(o, Constant) else self.frame[o] for o in operands])


class OpenPlan:
    """A path of unknown sizes without side effects, with the interface of a plan.

    Attributes:
        sizes: the sizes that the last run has found.
    """

    returns_jax_arrays = False

    def __init__(self, one: OpenTrace) -> None:
        """Run the path of `one`."""
        self.in_place: dict[int, int] = {}  # no variable is updated in its array
        self.one = one
        self.sizes: Env = {}

    def run(self, *raws: Any) -> tuple[Any, ...]:
        """The raw outputs for these raw inputs.

        Raises:
            GuardMiss: if the path does not serve the run.
        """
        run = OpenRun(self.one, list(raws), [])
        run.run()
        self.sizes = run.env
        return run.outputs()
