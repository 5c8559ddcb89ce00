"""Specs of the results of a Python function that branches on values, without any values.

The function runs once for each combination of answers to "is this tensor true?" and "how often does
this loop run?", up to a limit. What the results of all runs have in common is their spec. AutoGraph
in TensorFlow traces both branches and the body of a loop for the same reason.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from gradtape.core.context import use_recorders
from gradtape.core.dims import Dim, UnknownSizeError
from gradtape.core.lazy_array import TracedArray
from gradtape.core.outer_scope import key_of
from gradtape.core.spec import TensorSpec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.graph.abstract_trace import AbstractTrace
from gradtape.graph.guard import ValueRead, user_source_line
from gradtape.graph.outer_tensor import find_stand_in
from gradtape.ops.raw_array import as_numpy_bool

MAX_RUNS = 40
MAX_QUESTIONS = 400  # in one run, which may be an endless loop
LOOP_COUNTS = (1, 2, 0)  # how often a loop over an unknown number of rows runs
FREE_ANSWERS = 2  # how often a line is asked before its answers alternate


class EndlessRun(Exception):  # noqa: N818  not an error
    """A run asked too many questions."""


class Answers:
    """The answers of one run.

    Attributes:
        script: the first answers; all later ones are the first choice.
        given: all answers so far, each with the number of choices.
    """

    def __init__(self, script: tuple[int, ...]) -> None:
        """Start with the answers of `script`."""
        self.script = script
        self.given: list[tuple[int, int]] = []
        self._by_line: dict[str, list[int]] = {}

    def choose(self, count: int) -> int:
        """The answer to a question with so many choices."""
        before = self._by_line.setdefault(user_source_line(), [])
        at = len(self.given)
        if at >= MAX_QUESTIONS:
            raise EndlessRun
        if at < len(self.script):
            answer = self.script[at]
        elif len(before) >= FREE_ANSWERS:
            answer, count = (before[-1] + 1) % count, 1  # leaves a loop sooner or later
        else:
            answer = 0
        before.append(answer)
        self.given.append((answer, count))
        return answer

    def alternatives(self) -> Iterator[tuple[int, ...]]:
        """Scripts that differ from this run in one answer after its script."""
        for at in range(len(self.script), len(self.given)):
            answer, count = self.given[at]
            start = tuple([one for one, _ in self.given[:at]])
            yield from [(*start, other) for other in range(count) if other != answer]


class SearchTrace(AbstractTrace):
    """A trace without values that answers what Python asks of tensors."""

    guesses_values = True

    def __init__(self, answers: Answers, *args: Any, **kwargs: Any) -> None:
        """Start empty."""
        super().__init__(*args, **kwargs)
        self.answers = answers
        self.adopted: dict[Any, SymbolicTensor] = {}

    def adopt(self, tensor: SymbolicTensor) -> Any:
        """A placeholder for a tensor of the function around the search."""
        found = find_stand_in(tensor._array, self)
        if found is None:
            key = key_of(tensor._array)
            found = self.adopted.get(key)
            if found is None:
                spec = self.spec_of_result(TensorSpec(tensor.shape, tensor.dtype))
                found = self.adopted[key] = self.make_value(spec)
        return self.as_traced(found)

    def read_truth(self, held: TracedArray) -> bool:
        """One of both answers, unless sizes determine it."""
        if held.dims is not None and type(held.dims.flat[0]) is int:
            return bool(held.dims.flat[0])
        return self.answers.choose(2) == 0

    def guard_value(self, held: TracedArray, kind: str = "value") -> Any:
        """One of both answers if the value is a single bool."""
        if held.dtype.kind == "b" and held.shape == () and kind == "value" and not self.closed:
            return as_numpy_bool(self.read_truth(held))
        return super().guard_value(held, kind)

    def has_next(self, count: int) -> bool:
        """Whether an iterator has another element: once, twice or never."""
        return self.answers.choose(2) == 0

    def iterate_loop(self, count: Any) -> Iterator[int]:
        """Yield the indices of a loop over a tensor of perhaps unknown size."""
        if type(count) is Dim:
            count = LOOP_COUNTS[self.answers.choose(len(LOOP_COUNTS))]
        return super().iterate_loop(count)


def search_branches(
    run: Callable[[SearchTrace], Any], join: Callable[..., Any], make_trace: Callable[..., Any]
) -> Any:
    """What the results of a function have in common, whichever way its branches go.

    Args:
        run: calls the function in a trace and returns a description of its results.
        join: the description that covers several ones; raises if there is none.
        make_trace: makes a trace from answers.

    Raises:
        Exception: what the first run raises, if no run ends.
    """
    waiting: deque[tuple[int, ...]] = deque([()])
    found: list[Any] = []
    failure: BaseException | None = None
    for _ in range(MAX_RUNS):
        if not waiting:
            break
        answers = Answers(waiting.popleft())
        trace = make_trace(answers)
        try:
            with use_recorders((trace,)):
                found.append(run(trace))
        except (ValueRead, UnknownSizeError):
            raise
        except Exception as error:
            failure = failure or error
        finally:
            trace.close()
        waiting.extend(answers.alternatives())
    if not found:
        assert failure is not None
        raise failure
    return found[0] if len(found) == 1 else join(*found)
