"""Random ops inside a trace: each has a stream of its own, whose place is a hidden variable.

A draw reads the variable and moves it on, like any other update: it happens with the call or not at
all, and a call that is run again draws the same numbers. As in TensorFlow, ops without a seed are
numbered within their function.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gradtape.core.context import staging, unheard
from gradtape.core.tensor import Tensor, eager
from gradtape.ops.philox import advanced
from gradtape.state.seed import LARGEST, SEEDS, STARTED_OVER, UNSET, philox
from gradtape.state.variable import Variable
from gradtape.tape.custom import REPLAYED


def staged_stream(trace: Any, op: Any, seed: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """Key and counter for the next `blocks` blocks that an op of a trace draws."""
    outer, inner = seeds_of(trace, seed)
    variable = trace.stream_of((op, SEEDS.seed, seed), lambda: place_of(outer, inner))
    key = eager(np.array([variable.key], np.uint64))
    counter = trace.read(variable)
    trace.write(variable, trace.call(advanced, (counter._array, blocks)))
    return key, counter


def fallback_stream(draws: Any, op: Any, seed: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """The same for an op of a function that runs eagerly: it goes on where the graph was."""
    outer, inner = seeds_of(draws, seed)
    variable = draws.stream_of((op, SEEDS.seed, seed), lambda: place_of(outer, inner))
    with unheard():
        counter = eager(variable.numpy())
        variable.assign(advanced(counter._array, blocks))
    return eager(np.array([variable.key], np.uint64)), counter


def seeds_of(trace: Any, seed: int | None) -> tuple[int, int]:
    """The two seeds of an op in a trace."""
    if SEEDS.seed is None and seed is None:
        return SEEDS.pair(None)
    if seed is None:
        seed = trace.unseeded
        trace.unseeded += 1
    outer = UNSET if SEEDS.seed is None else SEEDS.seed % LARGEST
    inner = seed % LARGEST
    return outer, LARGEST if (outer, inner) == (0, 0) else inner


def place_of(key: int, high: int) -> Any:
    """A variable that holds the counter of a stream."""
    with unheard():
        variable: Any = Variable(eager(philox(key, high, 0)[1]), trainable=False, name="stream")
    variable.key, variable.first = key, variable._value
    variable._is_random = True
    LIVING[variable._key] = variable
    return variable


# the streams of all graphs that are still there
LIVING: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def start_over() -> None:
    """Let every op of every graph begin its stream anew, as `set_seed` does in TensorFlow."""
    for variable in list(LIVING.values()):
        variable.assign(variable.first)


STARTED_OVER.append(start_over)


def save() -> Any:
    """Where the streams of the current trace, or outside of any those of all graphs, stand."""
    stage = staging()
    if not stage:
        return [(variable, variable._value) for variable in list(LIVING.values())]
    trace = stage[0]
    return trace.unseeded, trace.drawn, {key: s.newest for key, s in trace.states.items()}


def restore(saved: Any) -> None:
    """Go back to where `save` was called."""
    stage = staging()
    if stage and saved is not None:
        trace = stage[0]
        trace.unseeded, trace.drawn, newest = saved
        for key, state in trace.states.items():
            if state.variable._is_random:
                state.newest = newest.get(key, state.first)
    elif not stage:
        for variable, value in saved or ():
            if variable._value is not value:
                variable.assign(value)


REPLAYED.append((save, restore))
