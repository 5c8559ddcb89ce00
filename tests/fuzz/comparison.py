"""Compare a random program's eager run with its run as a function.

Tolerances are those of the conformance runners, the smaller one for each dtype. A difference counts
only if rounding cannot explain it: the program also runs eagerly with results that are off by a few
units in the last place.
"""

from __future__ import annotations

import re
import signal
from typing import Any, NamedTuple

import numpy as np

from tests.conformance.ops import run as ops_runner
from tests.conformance.tape.run import ATOL, RTOL
from tests.fuzz.execution import Leaf, Noise, Outcome, run_program
from tests.fuzz.generator.features import REFUSALS
from tests.fuzz.generator.source import Program
from tests.fuzz.generator.values import HALVES

TOLERANCE = {**ops_runner.TOLERANCE, **dict.fromkeys(("float32", "complex64"), (RTOL, ATOL))}
PYTHON_KINDS = ("bool", "int", "float", "str", "TensorShape")
SECONDS = 60
NOISY_RUNS = 6
NOISE_FACTOR = 20  # the engines round oftener than once for each statement


class Difference(NamedTuple):
    """What differs: `part` is outputs, gradients, second, variables or error."""

    call: int
    part: str
    place: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"call {self.call + 1}, {self.part}[{self.place}]: {self.text}"

    @property
    def category(self) -> tuple[str, str]:
        """What stays the same while a program is shrunk."""
        return self.part, self.what


class TooSlowError(BaseException):
    """Raised by an alarm; no handler of the program catches it."""


def stop_program(signum: int, frame: Any) -> None:
    """End a program that does not end."""
    raise TooSlowError


def find_differences(
    program: Program, engine: str = "numpy", features: frozenset[str] = frozenset()
) -> tuple[list[Difference], bool]:
    """Differences between the eager run and the function; whether rounding explains all of them."""
    signal.signal(signal.SIGALRM, stop_program)
    signal.alarm(SECONDS)
    try:
        wanted, got, found = compare_runs(program, engine)
        found = [difference for difference in found if not is_refusal(difference, features)]
        if found and is_unused_error(found[0]):
            program = program.prune()
            wanted, got, found = compare_runs(program, engine)
        return found, bool(found) and is_explained_by_rounding(program, wanted, got, found)
    except TooSlowError:
        return [Difference(0, "error", 0, "time", f"no end within {SECONDS} s")], False
    finally:
        signal.alarm(0)


def compare_runs(
    program: Program, engine: str
) -> tuple[list[Outcome], list[Outcome], list[Difference]]:
    """The outcomes of eager mode and of the function, and where they differ."""
    count = count_comparable_calls(program)
    wanted = run_program(program, eager=True)[:count]
    got = run_program(program, eager=False)[:count]
    return wanted, got, compare_outcomes(wanted, got, program.traits, engine)


def count_comparable_calls(program: Program) -> int:
    """The number of calls before a random op's stream starts again.

    An op with a seed has a stream in every trace, in TensorFlow too; eagerly it has one.
    """
    outline = re.compile(r"zeros\(\[[^]]*|[][(),]")  # what shows the shapes
    outlines = [outline.findall(" ".join(call)) for call in program.calls]
    same = [one == outlines[0] for one in outlines]
    return same.index(False) if "streams" in program.traits and False in same else len(same)


def is_refusal(difference: Difference, features: frozenset[str]) -> bool:
    """Whether a function refused what it is known not to do."""
    return any(
        feature not in features and re.search(refusal, difference.text)
        for feature, refusal in REFUSALS.items()
    )


def is_unused_error(difference: Difference) -> bool:
    """Whether only eager mode raised: perhaps in a statement whose result nothing uses."""
    return difference.part == "error" and difference.what.endswith(" ")


# -- outcomes


def compare_outcomes(
    wanted: list[Outcome], got: list[Outcome], traits: frozenset[str], engine: str = "numpy"
) -> list[Difference]:
    """Every difference of two runs."""
    found: list[Difference] = []
    for call, (want, have) in enumerate(zip(wanted, got, strict=False)):
        if "error" in want.errors and "error" not in have.errors and engine == "xla":
            break  # XLA does not check values: docs/xla.md
        found += compare_calls(call, want, have, traits)
    return found


def compare_calls(
    call: int, want: Outcome, have: Outcome, traits: frozenset[str]
) -> list[Difference]:
    """Differences of one call."""
    for part in ("error", "gradients"):
        a, b = want.errors.get(part), have.errors.get(part)
        if not is_same_class(a, b):
            text = f"eagerly {a or 'no error'}, in a function {b or 'no error'}"
            text += f" ({' '.join(sorted(traits))})"
            classes = " ".join((error or "").split(":")[0] for error in (a, b))
            return [Difference(call, "error", 0, f"{part} {classes}", text)]
    found = []
    for part, leaves in want.parts.items():
        others = have.parts.get(part, [])
        if len(leaves) != len(others):
            text = f"{len(leaves)} eagerly, {len(others)} in a function"
            found.append(Difference(call, part, 0, "number", text))
            continue
        for place, (a, b) in enumerate(zip(leaves, others, strict=True)):
            complaint = compare_leaves(a, b, list_allowances(part, traits))
            if complaint:
                found.append(Difference(call, part, place, *complaint))
    return found


def is_same_class(eager: str | None, compiled: str | None) -> bool:
    """Whether the function raised the class of eager mode, or one derived from it."""
    if eager is None or compiled is None:
        return eager is compiled
    names = re.match(r"(\w+)(?: \((.*?)\))?:", compiled)
    assert names is not None
    return re.split(r"\W", eager)[0] in (names[1], *(names[2] or "").split(", "))


def list_allowances(part: str, traits: frozenset[str]) -> frozenset[str]:
    """What the comparison of a part allows: as in the op corpus, zeros for None in second order."""
    if part == "gradients":
        return traits
    return traits | {"nodes"} if part == "second" else frozenset()


# -- values


def compare_leaves(a: Leaf, b: Leaf, traits: frozenset[str]) -> tuple[str, str] | None:
    """What differs between two leaves, in a word and in a sentence.

    With the trait `nodes`, a graph may have zeros where eager mode has None, and NaN where such
    zeros met an infinite derivative; so it is in TensorFlow.
    """
    text = f"eagerly {show(a)}, in a function {show(b)}"
    if "None" in (a.kind, b.kind):
        other = b if a.kind == "None" else a
        if a.kind == b.kind or ("nodes" in traits and is_zero_or_nan(other)):
            return None
        return "none", text
    if a.kind in PYTHON_KINDS and b.kind == "Tensor":  # functions return tensors
        return None if np.array_equal(a.array, b.array) else ("value", text)
    for what in ("kind", "dtype", "shape"):
        if getattr(a, what) != getattr(b, what):
            return what, text
    if are_close(a, b) or ("nodes" in traits and differs_by_nan_only(a, b)):
        return None
    return "value", text


def show(leaf: Leaf) -> str:
    """A leaf in one line."""
    values = " ".join(np.array2string(np.asarray(leaf.array), threshold=20).split())
    return f"{leaf.kind} {leaf.dtype}{list(leaf.shape)} {values}"


def is_exact(leaf: Leaf) -> bool:
    """Whether values must be equal: integers, booleans, strings and values of Python."""
    return leaf.dtype not in TOLERANCE


def are_close(a: Leaf, b: Leaf) -> bool:
    """Whether two values are equal within the tolerances."""
    if is_exact(a):
        return bool(np.array_equal(a.array, b.array))
    if a.dtype in HALVES and not np.all(np.isfinite(a.array.astype(float))):
        return True  # half types overflow earlier or later, depending on the order of sums
    return not np.any(find_mismatches(a, b))


def is_zero_or_nan(leaf: Leaf) -> bool:
    """Whether all elements are zeros or NaN."""
    array = np.asarray(leaf.array).astype(np.complex128)
    return bool(np.all((array == 0) | np.isnan(array)))


def differs_by_nan_only(a: Leaf, b: Leaf) -> bool:
    """Whether elements differ only where the function has NaN."""
    if is_exact(a):
        return False
    missing = np.isnan(np.asarray(b.array).astype(np.complex128))
    return not np.any(find_mismatches(a, b) & ~missing)


def find_mismatches(a: Leaf, b: Leaf, spread: Any = 0.0) -> Any:
    """Where two arrays of floats differ by more than the tolerance and `spread`."""
    rtol, atol = TOLERANCE[a.dtype]
    x, y = (np.asarray(leaf.array).astype(np.complex128) for leaf in (a, b))
    with np.errstate(all="ignore"):
        close = np.abs(x - y) <= atol + rtol * np.abs(x) + spread
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if a.dtype.startswith("complex"):  # kernels differ in which part of infinity is NaN
        same |= ~np.isfinite(x) & ~np.isfinite(y)
    return ~(same | (np.isfinite(x) & close))


# -- rounding


def is_explained_by_rounding(
    program: Program, wanted: list[Outcome], got: list[Outcome], found: list[Difference]
) -> bool:
    """Whether rounding errors of the statements can cause every difference."""
    runs = [run_program(program, eager=True, noise=Noise(seed)) for seed in range(NOISY_RUNS)]
    return all(
        is_within_spread(difference, wanted, got, runs, widest_tolerance(program))
        if difference.what == "value"
        else is_like_a_noisy_run(difference, wanted, got, runs, program.traits)
        for difference in found
    )


def is_like_a_noisy_run(
    difference: Difference, wanted: Any, got: Any, runs: list[Any], traits: frozenset[str]
) -> bool:
    """Whether noise has the effect that the function has, for example takes another branch."""
    end = difference.call + 1
    return any(
        bool(compare_outcomes(wanted[:end], run[:end], traits))
        and not compare_outcomes(run[:end], got[:end], traits)
        for run in runs
    )


def widest_tolerance(program: Program) -> float:
    """The relative tolerance of the narrowest float dtype that a program names."""
    names = set(re.findall(r"\w+", program.render()))
    return max(rtol if name in names else 0.0 for name, (rtol, _) in TOLERANCE.items())


def is_within_spread(
    difference: Difference, wanted: Any, got: Any, runs: list[Any], relative: float
) -> bool:
    """Whether noise, or rounding to `relative`, changes a value about as much as the function."""
    call, part, place = difference[:3]
    a, b = wanted[call].parts[part][place], got[call].parts[part][place]
    noisy = [run[call].parts.get(part, []) for run in runs if call < len(run)]
    leaves = [leaves[place] for leaves in noisy if place < len(leaves)]
    leaves = [leaf for leaf in leaves if leaf[:3] == a[:3]]
    if is_exact(a) or not leaves:
        return any(not np.array_equal(leaf.array, a.array) for leaf in leaves)
    base = np.asarray(a.array).astype(np.complex128)
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(leaf.array.astype(np.complex128) - base) for leaf in leaves], 0)
        spread = np.maximum(spread, relative / NOISE_FACTOR * np.nanmax(np.abs(base), initial=0))
    spread = np.where(np.isnan(spread), np.inf, spread)
    return not np.any(find_mismatches(a, b, NOISE_FACTOR * spread))
