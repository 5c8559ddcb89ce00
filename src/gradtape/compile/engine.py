"""Which engine a graph goes to: a fixed rule, never a timing.

1. What `use(name, function)` says of the function itself.
2. `jit_compile=True` asks for XLA, `jit_compile=False` for NumPy.
3. What `use(name)` says of the process, or else the environment variable GRADTAPE_ENGINE.
4. XLA, if jax is installed, for large graphs of elementwise work (`cost_model.suits_xla`), and for
   graphs of many small ops after so many calls as the graph says (`cost_model.calls_until_xla`);
   else NumPy.

Who asks for XLA by 2 gets it or an error. By the others it is preferred: graphs that XLA cannot
express, or of more than a thousand ops, which it takes long to compile, run on NumPy.
"""

from __future__ import annotations

import logging
import os
from copy import copy
from typing import Any, ClassVar

from gradtape.compile.cost_model import calls_until_xla, suits_xla
from gradtape.compile.numpy import engine as numpy_engine
from gradtape.compile.xla.accelerator import stand_in as stand_in
from gradtape.compile.xla.kernel_namespace import is_there
from gradtape.core.device.array import HOST, Device, moved
from gradtape.core.device.placement import Placement, refusal
from gradtape.core.device.switch import in_use
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.lazy_array import shown
from gradtape.graph.graph import Graph

ENGINES = ("numpy", "xla")
LARGEST = 1000  # nodes of a graph that XLA is given without `jit_compile=True`

log = logging.getLogger("gradtape")


class Process:
    """What holds for every function.

    Attributes:
        engine: what `use` said, or None.
        said: what the log has said already.
        declined: why graphs ran on NumPy although XLA was preferred, and how many.
    """

    engine: str | None = None
    said: ClassVar[set[str]] = set()
    declined: ClassVar[dict[str, int]] = {}


class Fetching:
    """A plan for the host whose inputs may be on accelerators, and its results shall be."""

    def __init__(self, plan: Any, device: Device | None) -> None:
        """For a plan, in place of one on `device`."""
        self.plan = plan
        self.device = device or HOST
        self.in_place: dict[int, int] = {}

    def run(self, *raws: Any) -> Any:
        """Run."""
        return tuple([moved(raw, self.device) for raw in self.plan.run(*shown(raws))])

    __call__ = run

    def pretty(self) -> str:
        """That of the plan."""
        return str(self.plan.pretty())


class Choice:
    """What is known of a function about the engine of its graphs.

    Attributes:
        name: of the function.
        jit_compile: as it was given to `tf.function`.
        engine: what `use` said of this function, or None.
        device: where the graphs run; None: nobody said.
    """

    device: Device | None = None

    def __init__(self, name: str = "", jit_compile: bool | None = None) -> None:
        """Of a function called `name`."""
        self.name = name
        self.jit_compile = jit_compile
        self.engine: str | None = None

    def at(self, device: Device | None) -> Choice:
        """The same for graphs that run on a device."""
        choice = copy(self)
        choice.device = device
        return choice

    @property
    def preferred(self) -> str | None:
        """The engine that is asked for, if one is."""
        if self.engine is not None:
            return self.engine
        if self.jit_compile is not None:
            return "xla" if self.jit_compile else "numpy"
        return Process.engine or from_environment()

    @property
    def required(self) -> bool:
        """Whether it is an error if XLA cannot express a graph."""
        return bool(self.jit_compile) and self.engine is None and is_there()

    @property
    def portable(self) -> bool:
        """Whether graphs should keep to ops that XLA has, too."""
        return self.preferred == "xla" and is_there()

    def compile(self, graph: Graph, updates: dict[int, int] | None = None) -> Any:
        """The plan of a graph.

        Raises:
            InvalidArgumentError: if XLA was asked for and cannot express the graph.
        """
        device = self.device
        chosen = self.preferred or ("xla" if is_there() and suits_xla(graph) else "numpy")
        if chosen == "xla" or (device is not None and device is not HOST):
            plan = self.on_xla(graph)
            if plan is not None:
                return plan
        if in_use[0]:
            return Fetching(numpy_engine.compile_graph(graph), device)
        return numpy_engine.compile_graph(graph, updates)

    def patience(self, graph: Graph) -> int | None:
        """How many calls stay on NumPy until XLA takes over; None: all."""
        if self.preferred is not None or not is_there() or len(graph.nodes) > LARGEST:
            return None
        return calls_until_xla(graph)

    def on_xla(self, graph: Graph) -> Any:
        """The plan for XLA, or None if the graph goes to NumPy instead."""
        if not is_there():
            once(
                "tf.function %s asks for XLA, which needs jax: it runs on NumPy. "
                "pip install 'gradtape[xla]' brings it.",
                self.name,
            )
            return None
        from gradtape.compile.xla.engine import compile_graph
        from gradtape.compile.xla.lowering import Inexpressible

        required = self.required
        placed = self.device is not None and self.device is not HOST
        if not (required or placed) and len(graph.nodes) > LARGEST:
            self.decline(f"it has more than {LARGEST} ops")
            return None
        try:
            return compile_graph(graph, self.device)
        except Inexpressible as error:
            if required:
                raise InvalidArgumentError(
                    f"tf.function {self.name}: jit_compile=True asks for XLA, which cannot express "
                    f"the function: {error}. Leave out jit_compile, or move that op out of the "
                    "function."
                ) from error
            if placed and self.device is not None and not Placement.soft:
                raise refusal(f"tf.function {self.name}", self.device, error) from None
            self.decline(str(error))
            return None

    def decline(self, why: str) -> None:
        """Note that a graph runs on NumPy although XLA is preferred."""
        log.info("tf.function %s runs on NumPy: %s", self.name, why)
        Process.declined[why] = Process.declined.get(why, 0) + 1


def use(engine: str | None, function: Any = None) -> None:
    """Choose the engine of functions that are compiled from now on.

    Args:
        engine: "numpy", "xla" (graphs that it cannot express run on NumPy), or None: by the rule.
        function: what `tf.function` returned, for that one alone; by default all.

    Raises:
        ValueError: if there is no such engine.
        ModuleNotFoundError: if "xla" is asked for and jax is not installed.

    Example:
        >>> gradtape.engine.use("numpy")
        >>> gradtape.engine.current()
        'numpy'
        >>> gradtape.engine.use(None)
    """
    if engine is not None:
        checked(engine)
        if engine == "xla" and not is_there():
            raise ModuleNotFoundError(
                "engine.use: the xla engine needs jax. pip install 'gradtape[xla]' brings it."
            )
    if function is None:
        Process.engine = engine
    else:
        function.choice.engine = engine


def current() -> str | None:
    """The engine that functions are to use that say nothing about it; None: it depends on them."""
    return Choice().preferred


def declined() -> dict[str, int]:
    """Why graphs ran on NumPy although XLA was preferred, and how many did."""
    return dict(Process.declined)


def checked(engine: str) -> str:
    """An engine's name.

    Raises:
        ValueError: if it is none.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}. Received {engine!r}.")
    return engine


def from_environment() -> str | None:
    """The engine that the environment variable GRADTAPE_ENGINE names."""
    name = os.environ.get("GRADTAPE_ENGINE")
    return checked(name) if name else None


def once(message: str, *args: Any) -> None:
    """Say something in the log, the first time."""
    if message not in Process.said:
        Process.said.add(message)
        log.warning(message, *args)
