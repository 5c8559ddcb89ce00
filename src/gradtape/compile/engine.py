"""The choice of the engine for a graph: a fixed rule, never a timing.

The first of these that applies decides:

1. The engine that `use(name, function)` set for this function.
2. `jit_compile=True` selects XLA, `jit_compile=False` NumPy.
3. The engine that `use(name)` set for the process, else the environment variable GRADTAPE_ENGINE.
4. If jax is installed and can run, XLA for large graphs of elementwise work
   (`cost_model.suits_xla`), and for graphs of many small ops after a number of calls
   (`cost_model.calls_until_xla`); else NumPy.

`jit_compile=True` means XLA or an error. The other rules only prefer XLA: graphs that it cannot
express, and graphs of more than a thousand ops, which take long to compile, run on NumPy. So do all
graphs where jax is installed but cannot run; the first of them logs a warning.
"""

from __future__ import annotations

import os
from copy import copy
from typing import Any, ClassVar

from gradtape.compile.cost_model import calls_until_xla, suits_xla
from gradtape.compile.index_check import find_index_checks
from gradtape.compile.numpy import engine as numpy_engine
from gradtape.compile.xla.device import stand_in as stand_in
from gradtape.compile.xla.jax_runtime import (
    JaxState,
    summarize_error,
    why_jax_cannot_run,
    why_xla_is_off,
)
from gradtape.compile.xla.kernel_namespace import has_jax
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.interruption import is_from_signal_handler
from gradtape.core.lazy_array import materialize
from gradtape.core.log import get_log
from gradtape.core.ports import devices
from gradtape.devices.array import HOST, Device, to_device
from gradtape.devices.placement import PlacementSettings, placement_error
from gradtape.graph.graph import Graph

ENGINES = ("numpy", "xla")
MAX_XLA_NODES = 1000  # nodes of a graph that may go to XLA without `jit_compile=True`


class EngineSettings:
    """Settings and counters of the process.

    Attributes:
        engine: the engine that `use` set, or None.
        logged: warnings that were logged already.
        declined: reasons why graphs ran on NumPy although XLA was preferred, with counts.
    """

    engine: str | None = None
    logged: ClassVar[set[str]] = set()
    declined: ClassVar[dict[str, int]] = {}


class UndecidedJit(int):
    """False, as a value of `jit_compile` that leaves the choice to the default rule."""

    def __repr__(self) -> str:
        """As False."""
        return "False"


class HostPlan:
    """A plan that runs on the host with inputs and results on an accelerator."""

    returns_jax_arrays = False

    def __init__(self, plan: Any, device: Device | None) -> None:
        """Run `plan` in place of a plan on `device`."""
        self.plan = plan
        self.device = device or HOST
        self.in_place: dict[int, int] = {}

    def run(self, *raws: Any) -> Any:
        """Fetch the inputs, run the plan, and move the results to the device."""
        return tuple([to_device(raw, self.device) for raw in self.plan.run(*materialize(raws))])

    __call__ = run

    def pretty(self) -> str:
        """The plan as readable lines."""
        return str(self.plan.pretty())


class EngineChoice:
    """The engine that a function asks for.

    Attributes:
        name: name of the function.
        jit_compile: the argument of `tf.function`.
        engine: the engine that `use` set for this function, or None.
        device: where the graphs run, or None if no device was requested.
        replica_marks: the replicas on accelerators that the graphs have, or None.
    """

    device: Device | None = None
    replica_marks: Any = None

    def __init__(self, name: str = "", jit_compile: bool | None = None) -> None:
        """The choice of a function called `name`."""
        self.name = name
        is_undecided = isinstance(jit_compile, int) and type(jit_compile) is not bool
        self.jit_compile = None if is_undecided and not jit_compile else jit_compile
        self.engine: str | None = None

    def for_device(self, device: Device | None) -> EngineChoice:
        """The same choice for graphs that run on `device`."""
        choice = copy(self)
        choice.device = device
        return choice

    def for_replicas(self, marks: Any) -> EngineChoice:
        """The same choice for graphs of several replicas on accelerators."""
        choice = copy(self)
        choice.replica_marks = marks
        return choice

    @property
    def preference(self) -> str | None:
        """The engine that was asked for, or None."""
        if self.engine is not None:
            return self.engine
        if self.jit_compile is not None:
            return "xla" if self.jit_compile else "numpy"
        return EngineSettings.engine or engine_from_environment()

    @property
    def is_xla_required(self) -> bool:
        """Whether it is an error if XLA cannot express a graph."""
        return bool(self.jit_compile) and self.engine is None and has_jax()

    @property
    def is_xla_preferred(self) -> bool:
        """Whether traces should use only ops that XLA has: it is preferred and may run."""
        return self.preference == "xla" and may_use_xla()

    def compile(self, graph: Graph, updates: dict[int, int] | None = None) -> Any:
        """Compile a graph into a plan.

        Raises:
            InvalidArgumentError: if XLA was asked for and cannot express the graph.
        """
        device = self.device
        if self.replica_marks is not None:
            has_replicas = self.replica_marks.has_replicas(graph)
            plan = self.compile_for_replicas(graph) if has_replicas else None
            return plan or HostPlan(numpy_engine.compile_graph(graph), device)
        chosen = self.preference or ("xla" if may_use_xla() and suits_xla(graph) else "numpy")
        if chosen == "xla" or (device is not None and device is not HOST):
            plan = self.compile_for_xla(graph, updates)
            if plan is not None:
                return plan
        if devices.active:
            return HostPlan(numpy_engine.compile_graph(graph), device)
        return numpy_engine.compile_graph(graph, updates)

    def calls_before_xla(self, graph: Graph) -> int | None:
        """The number of calls on NumPy before XLA takes over; None: never."""
        if (
            self.replica_marks is not None
            or self.preference is not None
            or not may_use_xla()
            or len(graph.nodes) > MAX_XLA_NODES
        ):
            return None
        return calls_until_xla(graph)

    def compile_for_xla(self, graph: Graph, updates: dict[int, int] | None = None) -> Any:
        """The XLA plan of a graph, or None if the graph must run on NumPy.

        `updates` allows it to keep small variables in one buffer: the dict maps outputs to the
        inputs whose next values they are.
        """
        if not has_jax():
            warn_once(
                "tf.function %s: XLA needs jax, which is not installed. It runs on NumPy. "
                "To use XLA: pip install 'gradtape[xla]'.",
                self.name,
            )
            return None
        reason = why_jax_cannot_run() or why_xla_is_off()
        if reason:
            return self.run_without_xla(reason)
        from gradtape.compile.xla.lowering import NotLowerable
        from gradtape.compile.xla.packing import make_plan

        required = self.is_xla_required
        placed = self.device is not None and self.device is not HOST
        if not (required or placed) and len(graph.nodes) > MAX_XLA_NODES:
            self.record_decline(f"it has more than {MAX_XLA_NODES} ops")
            return None
        try:
            checks = [] if required or placed else find_index_checks(graph) or []
            packed = {} if placed or devices.active else updates or {}
            plan = make_plan(graph, self.device, checks, packed)
            return plan if required or placed else plan.compile_now()
        except NotLowerable as error:
            if required:
                raise InvalidArgumentError(
                    f"tf.function {self.name}: with jit_compile=True, XLA must be able to run the "
                    f"function. It cannot: {error}. Leave out jit_compile, or move that op out "
                    "of the function."
                ) from error
            if placed and self.device is not None and not PlacementSettings.soft:
                raise placement_error(f"tf.function {self.name}", self.device, error) from None
            self.record_decline(str(error))
            return None
        except Exception as error:  # of JAX itself
            if is_from_signal_handler(error):
                raise
            return self.run_without_xla(summarize_error(error), error)

    def compile_for_replicas(self, graph: Graph) -> Any:
        """The plan for the devices of all replicas; None if they must run in lock-step."""
        from gradtape.compile.xla.lowering import NotLowerable
        from gradtape.compile.xla.spmd import compile_replicas

        try:
            return compile_replicas(graph, self.replica_marks)
        except NotLowerable as error:
            if self.is_xla_required:
                raise InvalidArgumentError(
                    f"tf.function {self.name}: with jit_compile=True, one program must be able to "
                    f"run all replicas. It cannot: {error}. Leave out jit_compile."
                ) from error
            self.record_decline(str(error))
            warn_once(
                "tf.function %s: its replicas run in lock-step on the host, not on their devices: "
                "%s. This warning is logged once.",
                self.name,
                error,
            )
            return None

    def run_without_xla(self, reason: str, cause: Exception | None = None) -> None:
        """Warn once that a function runs on NumPy because JAX cannot run.

        Raises:
            InvalidArgumentError: if the function requires XLA.
        """
        if self.is_xla_required:
            raise InvalidArgumentError(
                f"tf.function {self.name}: with jit_compile=True, XLA must be able to run the "
                f"function. JAX is installed but cannot run it: {reason}. Repair JAX or its "
                "settings, or leave out jit_compile."
            ) from cause
        self.record_decline(reason)
        warn_once(
            "tf.function %s runs on NumPy: JAX is installed but cannot run it (%s). This warning "
            "is logged once.",
            self.name,
            reason,
        )

    def record_decline(self, why: str) -> None:
        """Log and count that a graph runs on NumPy although XLA is preferred."""
        get_log().info("tf.function %s runs on NumPy: %s", self.name, why)
        EngineSettings.declined[why] = EngineSettings.declined.get(why, 0) + 1


def may_use_xla() -> bool:
    """Whether jax is installed and, as far as is known, can run."""
    return has_jax() and not JaxState.failure


def use(engine: str | None, function: Any = None) -> None:
    """Choose the engine of functions that are compiled from now on.

    Args:
        engine: "numpy", "xla" (graphs that it cannot express run on NumPy), or None for the
            default rule.
        function: a function made by `tf.function`, to choose its engine alone; by default the
            engine of all functions.

    Returns:
        None.

    Raises:
        ValueError: if the engine is unknown.
        ModuleNotFoundError: if "xla" is asked for and jax is not installed.

    Example:
        >>> gradtape.engine.use("numpy")
        >>> gradtape.engine.current()
        'numpy'
        >>> gradtape.engine.use(None)
    """
    if engine is not None:
        validate_engine_name(engine)
        if engine == "xla" and not has_jax():
            raise ModuleNotFoundError(
                "engine.use: the xla engine needs jax, which is not installed. "
                "Run: pip install 'gradtape[xla]'."
            )
    if function is None:
        EngineSettings.engine = engine
    else:
        function.choice.engine = engine


def current() -> str | None:
    """The engine of functions without a choice of their own; None: the default rule decides.

    Returns:
        The name of the engine, or None.
    """
    return EngineChoice().preference


def declined() -> dict[str, int]:
    """Reasons why graphs ran on NumPy although XLA was preferred, with counts.

    Returns:
        A dict from reasons to the number of graphs.
    """
    return dict(EngineSettings.declined)


def validate_engine_name(engine: str) -> str:
    """Check the name of an engine and return it.

    Raises:
        ValueError: if there is no such engine.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine: must be one of {', '.join(ENGINES)}. Received {engine!r}.")
    return engine


def engine_from_environment() -> str | None:
    """The engine that the environment variable GRADTAPE_ENGINE names."""
    name = os.environ.get("GRADTAPE_ENGINE")
    return validate_engine_name(name) if name else None


def warn_once(message: str, *args: Any) -> None:
    """Log a warning unless it was logged before."""
    if message not in EngineSettings.logged:
        EngineSettings.logged.add(message)
        get_log().warning(message, *args)
