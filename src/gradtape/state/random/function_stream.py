"""Random ops in a function: each draws from its own stream, whose counter is a hidden variable.

A draw reads the variable and advances it, like any other variable update. So the updates of a
failed call are discarded with the call, and a call that is run again draws the same numbers. As in
TensorFlow, ops without a seed are numbered within their function.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gradtape.core.context import staging, unheard
from gradtape.core.tensor import Tensor, eager
from gradtape.ops.random.philox import advanced
from gradtape.state.random.seed import SEEDS, STARTED_OVER, any_pair, joined, philox
from gradtape.state.random.stream import Streams
from gradtape.state.variable.variable import Variable
from gradtape.tape.custom_gradient import REPLAYED


def staged_stream(trace: Any, op: Any, seed: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """Key and counter for the next `blocks` blocks that an op in a trace draws."""
    variable = stream_variable(trace, op, seed)
    key = eager(np.array([variable.key], np.uint64))
    counter = trace.read(variable)
    trace.write(variable, trace.call(advanced, (counter._array, blocks)))
    return key, counter


def fallback_stream(cursor: Any, op: Any, seed: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """Key and counter for an op in a function that runs eagerly; continues the graph's stream."""
    variable = stream_variable(cursor, op, seed)
    with unheard():
        counter = eager(variable.numpy())
        variable.assign(advanced(counter._array, blocks))
    return eager(np.array([variable.key], np.uint64)), counter


def stream_variable(cursor: Any, op: Any, seed: int | None) -> Any:
    """The hidden variable of the next random op of a function."""
    pinned = cursor.streams.pinned
    outer = SEEDS.seed if pinned is None else pinned[0]
    pair = seeds_of(cursor, outer, seed)
    kind = (op, outer, seed)
    return cursor.stream_of(kind, lambda: place_of(kind, pair, pinned is not None))


def seeds_of(cursor: Any, outer: int | None, seed: int | None) -> tuple[int, int]:
    """The pair of seeds of an op in a function."""
    if outer is None and seed is None:
        return any_pair()
    if seed is None:
        seed = cursor.unseeded
        cursor.unseeded += 1
    return joined(outer, seed)


def place_of(kind: Any, pair: tuple[int, int], is_pinned: bool) -> Any:
    """Make the variable that holds the counter of an op's stream."""
    key, high = pair
    with unheard():
        variable: Any = Variable(eager(philox(key, high, 0)[1]), trainable=False, name="stream")
    variable.kind, variable.pair = kind, pair
    variable.key, variable.first = key, variable._value
    variable._is_random = True
    variable.is_pinned = is_pinned
    LIVING[variable._key] = variable
    return variable


def copied_stream(cursor: Any, variable: Any) -> Any:
    """Make a separate stream for an op that a nested function ran first."""
    pinned = cursor.streams.pinned is not None
    return cursor.stream_of(variable.kind, lambda: place_of(variable.kind, variable.pair, pinned))


def take_turns(streams: Streams, turn: Any) -> None:
    """Save the counters of the previous dataset iteration, and load those of `turn`.

    Streams that are new to `turn` start at their beginning.

    Args:
        streams: streams of a function.
        turn: the iteration; its dict `places` holds the saved counters.
    """
    before = streams.turn
    if before is not None:
        before.places[streams] = [(v, v._value) for v in streams.made]
    saved = {v._key: value for v, value in turn.places.pop(streams, ())}
    for variable in streams.made:
        _, outer, seed = variable.kind
        if variable._key in saved:
            variable._value = saved[variable._key]
        elif outer is None and seed is None:
            variable.assign(eager(philox(variable.key, any_pair()[1], 0)[1]))
        else:
            variable.assign(variable.first)
    streams.turn = turn


# Stream variables of all graphs that are alive.
LIVING: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def start_over() -> None:
    """Restart the stream of every op in every graph, as `set_seed` does in TensorFlow."""
    for variable in list(LIVING.values()):
        if not variable.is_pinned:
            variable.assign(variable.first)


STARTED_OVER.append(start_over)


def save() -> Any:
    """The counters of the current trace's streams; without a trace, of all graphs' streams."""
    stage = staging()
    if not stage:
        return [(variable, variable._value) for variable in list(LIVING.values())]
    trace = stage[0]
    return trace.unseeded, trace.drawn, {key: s.newest for key, s in trace.states.items()}


def restore(saved: Any) -> None:
    """Restore the counters that `save` returned."""
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
