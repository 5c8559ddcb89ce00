"""Lock-step replicas: the replicas of one process, one thread each, of which one runs at a time.

A replica runs until it meets the others at a collective or until its end. Then the next replica
runs. When all have met, the calling thread executes the collective, and replica 0 goes on. So the
order of all ops is fixed, and the replicas may share a trace: inside a `tf.function` all of them
record into one graph.

Replica 0 runs in the calling thread, so one replica needs no thread. A replica that raises ends all
others; its error is the error of the run.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import threading
from _thread import allocate_lock
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradtape.core.context import current_trace, local, set_recorders, use_recorders
from gradtape.core.per_replica import merge_replicas, select_replica
from gradtape.core.replica import parallel_runs, use_replica_state
from gradtape.graph.replica_lane import SHARED, ReplicaMarks
from gradtape.jit.run_mode import RunMode
from gradtape.state.variable.creator import STACK

NESTED_MEETING = (
    "`merge_call` called while defining a new graph or a tf.function. The function passed to "
    "`strategy.run()` has a nested `@tf.function`, a `tf.cond` or a loop that contains {label}. "
    "Replicas cannot meet there: decorate the function that calls `strategy.run`, or the function "
    "passed to it, with `@tf.function` instead."
)


class ReplicaStopped(BaseException):
    """Ends the threads of the other replicas after one has raised."""


class TracePlace:
    """Where a run of replicas started: the trace, its list of nodes and its options."""

    def __init__(self) -> None:
        """Note the place of this thread."""
        stage = current_trace()
        self.trace: Any = stage[0] if stage else None
        if stage:
            self.nodes, self.options = stage[0].builder.nodes, stage[0].options

    def start_marks(self, devices: Sequence[Any]) -> None:
        """Let the trace note which replica records which values, if they have devices."""
        if self.trace is None or not devices:
            return
        marks = self.trace.replica_marks
        if marks is None:
            self.trace.replica_marks = ReplicaMarks(devices)
        elif marks.devices != tuple(devices):
            marks.is_usable = False

    def mark(self, owner: int) -> None:
        """Note that a replica, or none (SHARED), records from here on."""
        marks = self.trace.replica_marks if self.trace is not None else None
        if marks is not None:
            marks.mark(len(self.trace.builder.specs), owner)

    def recorders_here(self, label: str, outer: tuple[Any, ...]) -> tuple[Any, ...]:
        """The recorders for a collective at this point of a replica.

        They are `outer`, those of the caller of `run`; none in `tf.init_scope`.

        Raises:
            RuntimeError: inside a nested function or body, which other replicas are not in.
        """
        stage = current_trace()
        if not stage:
            return () if self.trace is not None else outer
        trace = stage[0]
        is_same = trace is self.trace and trace.builder.nodes is self.nodes
        if not is_same or trace.options is not self.options:
            raise RuntimeError(NESTED_MEETING.format(label=label))
        return outer


class Meeting:
    """What one replica brings to a collective."""

    __slots__ = ("args", "function", "kwargs", "label", "recorders")

    def __init__(
        self, function: Any, args: Any, kwargs: Any, label: str, recorders: tuple[Any, ...]
    ) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.label = label
        self.recorders = recorders


class LockStepRun:
    """One call of `Strategy.run` with several replicas.

    Attributes:
        contexts: the replica contexts, one for each replica.
        meetings: what each replica brings to the current collective; None while it runs.
        results: what each replica has returned.
        is_finished: which replicas have returned.
        error: the error that ends the run, or None.
        has_ended: whether `run` has returned, or raised; replicas cannot meet any more.
        running: the replica whose turn it is.
        created: variables that replica 0 has created, by name, in order.
        taken: for each replica how many of them it has taken, by name.
    """

    def __init__(self, strategy: Any, count: int) -> None:
        """Prepare a run of `count` replicas."""
        self.strategy = strategy
        self.contexts: Sequence[Any] = ()
        self.count = count
        self.place = TracePlace()
        self.outer = local.recorders
        self.thread_state = {k: v for k, v in vars(local).items() if k != "unmarked"}
        self.creators = STACK.creators
        self.meetings: list[Meeting | None] = [None] * self.count
        self.merged: list[Any] = [None] * self.count
        self.results: list[Any] = [None] * self.count
        self.is_finished = [False] * self.count
        self.error: BaseException | None = None
        self.has_ended = False
        self.running = 0
        self.created: dict[str, list[Any]] = {}
        self.taken: list[dict[str, int]] = [{} for _ in range(count)]
        self.merge_error: BaseException | None = None
        self.turns = [allocate_lock() for _ in range(self.count)]
        self.threads: list[threading.Thread | None] = [None] * self.count
        for turn in self.turns:
            turn.acquire()

    def run(self, contexts: Sequence[Any], calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """The results of one call for each replica."""
        self.contexts, self.calls = contexts, calls
        self.place.start_marks(self.strategy.extended._mesh)
        try:
            with enter_parallel_run():
                self.place.mark(0)
                self.run_first_replica()
                while not all(self.is_finished):
                    self.run_others()
                    self.check_end()
        except ReplicaStopped:
            pass
        except BaseException as error:
            self.error = self.error or error
        finally:
            self.stop_threads()
            self.has_ended = True
            self.place.mark(SHARED)
        if self.error is None:
            return self.results
        failures = [self.error]
        self.error = None
        raise failures.pop()  # the traceback refers to this frame, which no longer refers to it

    def run_first_replica(self) -> None:
        """Run replica 0 in this thread."""
        with use_replica_state(self.strategy, self.contexts[0]):
            self.results[0] = self.calls[0]()
        self.is_finished[0] = True

    def check_end(self) -> None:
        """Raise RuntimeError if replica 0 has returned and another waits for it."""
        for i, meeting in enumerate(self.meetings):
            if meeting is not None:
                raise make_mismatch_error(0, i, meeting.label)

    def run_others(self) -> None:
        """Let the other replicas run, each until it meets or ends; called by replica 0."""
        self.pass_turn(0)
        self.turns[0].acquire()
        self.place.mark(0)
        if self.error is not None:
            raise ReplicaStopped

    def pass_turn(self, number: int) -> None:
        """Let the next replica run that has not finished; after the last one, replica 0."""
        following = number + 1
        while following < self.count and self.is_finished[following]:
            following += 1
        self.running = following if following < self.count else 0
        self.place.mark(self.running)
        if following >= self.count:
            self.turns[0].release()
        elif self.threads[following] is None:
            context = contextvars.copy_context()
            thread = threading.Thread(
                target=context.run,
                args=(self.run_replica, following),
                name=f"gradtape-replica-{following}",
                daemon=True,
            )
            self.threads[following] = thread
            thread.start()
        else:
            self.turns[following].release()

    def run_replica(self, number: int) -> None:
        """Run one replica in its thread."""
        vars(local).update(self.thread_state)
        STACK.creators = self.creators
        try:
            set_recorders(self.outer)
            with use_replica_state(self.strategy, self.contexts[number]):
                self.results[number] = self.calls[number]()
        except ReplicaStopped:
            pass
        except BaseException as error:
            self.error = self.error or error
        finally:
            set_recorders(())
            self.is_finished[number] = True
            if self.error is None:
                self.pass_turn(number)
            else:
                self.wake_first_replica()

    def wake_first_replica(self) -> None:
        """Let replica 0 run, which then ends the run."""
        with contextlib.suppress(RuntimeError):  # it runs already
            self.turns[0].release()

    def stop_threads(self) -> None:
        """End the threads that have not finished: they are waiting at a collective.

        After an interrupt of the calling thread, one of them may be running.
        """
        pending = [
            (i, thread)
            for i, thread in enumerate(self.threads)
            if thread is not None and not self.is_finished[i]
        ]
        if pending:
            self.error = self.error or RuntimeError("Strategy.run: the replicas were stopped.")
        for i, thread in pending:
            if i == self.running:
                raise_in_thread(thread, ReplicaStopped)
            with contextlib.suppress(RuntimeError):
                self.turns[i].release()
        for started in self.threads:
            if started is not None:
                started.join()

    def share_variable(self, number: int, name: str, create: Callable[[], Any]) -> Any:
        """The variable that replica 0 creates, and which the other replicas take.

        As in TensorFlow, replicas do not wait for each other here: code that creates variables
        once runs in replica 0 only.

        Raises:
            RuntimeError: if replica 0 has not created as many variables of this name.
        """
        known = self.created.setdefault(name, [])
        if number == 0:
            with use_replica_state(self.strategy, None):
                known.append(create())
            return known[-1]
        at = self.taken[number].get(name, 0)
        if at >= len(known):
            raise RuntimeError(
                f"Tried to create variable {name!r} in replica {number} only. Create it in all "
                "replicas, or before strategy.run."
            )
        self.taken[number][name] = at + 1
        return known[at]

    def meet(self, number: int, function: Any, args: Any, kwargs: Any, label: str) -> Any:
        """Wait for the other replicas; return what `function` returns for this replica.

        Replica 0 calls `function(strategy, *args, **kwargs)` in cross-replica context, on the
        merged arguments of all replicas.
        """
        if self.has_ended:
            raise RuntimeError(
                f"{label}: a replica context must be used while its `strategy.run` runs. The run "
                "has ended: call tf.distribute.get_replica_context() again."
            )
        if self.error is not None:
            raise ReplicaStopped
        recorders = self.place.recorders_here(label, self.outer)
        self.meetings[number] = Meeting(function, args, kwargs, label, recorders)
        if number:
            self.pass_turn(number)
            self.turns[number].acquire()
            if self.error is not None:
                raise ReplicaStopped
        else:
            self.run_others()
            self.merge()
        if self.merge_error is not None:
            raise self.merge_error
        result, self.merged[number] = self.merged[number], None
        return result

    def merge(self) -> None:
        """Execute the collective that all replicas have met at; called by replica 0."""
        meetings = self.meetings
        first = meetings[0]
        assert first is not None
        for i, other in enumerate(meetings):
            if other is None:
                self.error = make_mismatch_error(i, 0, first.label)
            elif other.label != first.label:
                self.error = RuntimeError(
                    f"Strategy.run: all replicas must meet at the same collective. Replica 0 is at "
                    f"{first.label}, replica {i} at {other.label}."
                )
        if self.error is not None:
            raise ReplicaStopped
        self.meetings = [None] * self.count
        self.merge_error = None
        try:
            args = merge_replicas([tuple(m.args) for m in meetings if m is not None])
            kwargs = merge_replicas([m.kwargs for m in meetings if m is not None])
            self.place.mark(SHARED)
            with use_recorders(first.recorders), use_replica_state(self.strategy, None):
                merged = first.function(self.strategy, *args, **kwargs)
            self.merged = [select_replica(i, merged) for i in range(self.count)]
        except Exception as error:
            self.merge_error = error
        self.place.mark(0)


def make_mismatch_error(finished: int, waiting: int, label: str) -> RuntimeError:
    """The error if one replica has returned and another waits at a collective."""
    return RuntimeError(
        "Some replicas made a different number of replica_context().merge_call() calls. "
        f"Replica {finished} has returned, and replica {waiting} waits at {label}."
    )


@contextlib.contextmanager
def enter_parallel_run() -> Iterator[None]:
    """Scope in which calls of functions look at the replica they run for."""
    parallel_runs[0] += 1
    RunMode.update_quick()
    try:
        yield
    finally:
        parallel_runs[0] -= 1
        RunMode.update_quick()


def raise_in_thread(thread: threading.Thread, exception: type[BaseException]) -> None:
    """Raise an exception in a thread that runs Python code."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(exception)
        )
