"""Random ops in a function: each draws from its own stream, whose counter is a hidden variable.

A draw reads the variable and advances it, like any other variable update. So the updates of a
failed call are discarded with the call, and a call that is run again draws the same numbers. As in
TensorFlow, ops without a seed are numbered within their function.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gradtape.core.context import no_recording, trace_around_batches
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.random.philox import advance_counter
from gradtape.state.random.seed import (
    ON_SET_SEED,
    SEEDS,
    combine_seeds,
    make_key_and_counter,
    random_seed_pair,
)
from gradtape.state.random.stream import FunctionStreams
from gradtape.state.variable.variable import Variable
from gradtape.tape.custom_gradient import RECOMPUTE_STATE


def draw_in_trace(trace: Any, op: Any, seed: int | None, blocks: int) -> tuple[Tensor, Tensor]:
    """Key and counter for the next `blocks` blocks that an op in a trace draws."""
    variable = next_stream_variable(trace, op, seed)
    key = make_tensor(np.array([variable.key], np.uint64))
    counter = trace.read_variable(variable)
    trace.write_variable(variable, trace.call_raw(advance_counter, (counter._array, blocks)))
    return key, counter


def draw_in_eager_function(
    cursor: Any, op: Any, seed: int | None, blocks: int
) -> tuple[Tensor, Tensor]:
    """Key and counter for an op in a function that runs eagerly; continues the graph's stream."""
    variable = next_stream_variable(cursor, op, seed)
    with no_recording():
        counter = make_tensor(variable.numpy())
        variable.assign(advance_counter(counter._array, blocks))
    return make_tensor(np.array([variable.key], np.uint64)), counter


def next_stream_variable(cursor: Any, op: Any, seed: int | None) -> Any:
    """The hidden variable of the next random op of a function."""
    pinned = cursor.streams.fixed_seed
    outer = SEEDS.seed if pinned is None else pinned[0]
    pair = choose_seeds(cursor, outer, seed)
    kind = (op, outer, seed)
    return cursor.next_stream(kind, lambda: make_stream_variable(kind, pair, pinned is not None))


def choose_seeds(cursor: Any, outer: int | None, seed: int | None) -> tuple[int, int]:
    """The pair of seeds of an op in a function."""
    if outer is None and seed is None:
        SEEDS.require_seed(seed)
        return random_seed_pair()
    if seed is None:
        seed = cursor.unseeded_count
        cursor.unseeded_count += 1
    return combine_seeds(outer, seed)


class StreamVariable(Variable):
    """The counter of a stream: hidden, so that functions that create variables do not see it."""


def make_stream_variable(kind: Any, pair: tuple[int, int], is_pinned: bool) -> Any:
    """Make the variable that holds the counter of an op's stream."""
    key, high = pair
    with no_recording():
        variable: Any = StreamVariable(
            make_tensor(make_key_and_counter(key, high, 0)[1]), trainable=False, name="stream"
        )
    variable.kind, variable.pair = kind, pair
    variable.key, variable.first = key, variable._value
    variable._is_random = True
    variable.is_pinned = is_pinned
    LIVE_STREAMS[variable._key] = variable
    return variable


def copy_stream(cursor: Any, variable: Any) -> Any:
    """Make a separate stream for an op that a nested function ran first."""
    pinned = cursor.streams.fixed_seed is not None
    return cursor.next_stream(
        variable.kind, lambda: make_stream_variable(variable.kind, variable.pair, pinned)
    )


def switch_iteration(streams: FunctionStreams, turn: Any) -> None:
    """Save the counters of the previous dataset iteration, and load those of `turn`.

    Streams that are new to `turn` start at their beginning.

    Args:
        streams: streams of a function.
        turn: the iteration; its dict `places` holds the saved counters.
    """
    before = streams.iteration
    if before is not None:
        before.stream_positions[streams] = [(v, v._value) for v in streams.all_variables]
    saved = {v._key: value for v, value in turn.stream_positions.pop(streams, ())}
    for variable in streams.all_variables:
        _, outer, seed = variable.kind
        if variable._key in saved:
            variable._value = saved[variable._key]
        elif outer is None and seed is None:
            variable.assign(
                make_tensor(make_key_and_counter(variable.key, random_seed_pair()[1], 0)[1])
            )
        else:
            variable.assign(variable.first)
    streams.iteration = turn


# Stream variables of all graphs that are alive.
LIVE_STREAMS: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def restart_streams() -> None:
    """Restart the stream of every op in every graph, as `set_seed` does in TensorFlow."""
    for variable in list(LIVE_STREAMS.values()):
        if not variable.is_pinned:
            variable.assign(variable.first)


ON_SET_SEED.append(restart_streams)


def save_streams() -> Any:
    """The counters of the current trace's streams; without a trace, of all graphs' streams."""
    stage = trace_around_batches()
    if not stage:
        return None, [(variable, variable._value) for variable in list(LIVE_STREAMS.values())]
    trace = stage[0]
    return trace, (trace.save_position(), trace.versions.save())


def restore_streams(saved: Any) -> None:
    """Restore the counters that `save_streams` returned."""
    trace, state = saved
    stage = trace_around_batches()
    if stage and trace is stage[0]:
        position, versions = state
        trace.restore_position(position)
        trace.versions.restore(versions, only_random=True)
    elif trace is None and not stage:
        for variable, value in state:
            if variable._value is not value:
                with no_recording():
                    variable.assign(value)


RECOMPUTE_STATE.append((save_streams, restore_streams))
