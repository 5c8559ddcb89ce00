"""Run a random program eagerly and as a function, and compare everything it shows.

Tolerances are those of the conformance runners. A difference counts only if it is larger than what
rounding can cause: the program also runs eagerly with results that are off by a few units in the
last place.
"""

from __future__ import annotations

import re
import signal
import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape.core import nest
from tests.conformance.ops import run as ops_runner
from tests.conformance.tape.run import ATOL, RTOL
from tests.fuzz.generator.features import REFUSALS
from tests.fuzz.generator.source import Program
from tests.fuzz.generator.values import HALVES

TOLERANCE = {**ops_runner.TOLERANCE, **dict.fromkeys(("float32", "complex64"), (RTOL, ATOL))}
NOISE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 6e-7, "complex64": 6e-7}
SECONDS = 60
NOISY_RUNS = 6


class Leaf(NamedTuple):
    """A value as it is compared."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    array: Any


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


@dataclass
class Outcome:
    """What one call showed: lists of leaves by part, and the classes of errors by part."""

    parts: dict[str, list[Leaf]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def make_leaf(value: Any) -> Leaf:
    """A tensor, variable, IndexedSlices or Python value in a form that can be compared."""
    if value is None:
        return Leaf("None", "", (), None)
    if isinstance(value, (tf.Tensor, tf.Variable, tf.IndexedSlices)):
        kind = type(value).__name__ if isinstance(value, tf.IndexedSlices) else "Tensor"
        array = tf.convert_to_tensor(value).numpy()
        return Leaf(kind, value.dtype.name, np.shape(array), array)
    if isinstance(value, tf.random.Generator):
        return make_leaf(value.state)
    return Leaf(type(value).__name__, "", (), value)


def flatten(result: Any) -> list[Any]:
    """The leaves of a structure."""
    return nest.flatten(result, expand_composites=False)


class Runner:
    """Runs a program's calls, one after another."""

    def __init__(self, source: str, order: int, traits: frozenset[str], hook: Any = None) -> None:
        space: dict[str, Any] = {"jitter": hook}
        exec(compile(source, "<program>", "exec"), space)
        self.function, self.states = space["make"]()
        self.calls = space["make_calls"]()
        self.order = order
        self.traits = traits

    def run(self) -> list[Outcome]:
        """The outcome of each call."""
        outcomes = []
        for inputs in self.calls:
            outcomes.append(self.run_call(inputs))
            if "error" in outcomes[-1].errors and "streams" in self.traits:
                break  # streams of ops with seeds cannot be set back
        return outcomes

    def run_call(self, inputs: list[Any]) -> Outcome:
        """Call the function once, under tapes if derivatives are wanted."""
        outcome = Outcome()
        saved = [self.copy_state(s) for s in self.states]
        variables = [s for s in self.states if isinstance(s, tf.Variable)]
        sources = [t for t in [*inputs, *variables] if is_differentiable(t)]
        with tf.GradientTape(persistent=True) as outer, tf.GradientTape(persistent=True) as inner:
            if self.order > 0:
                inner.watch(sources)
            if self.order > 1:
                outer.watch(sources)
            try:
                result = flatten(self.function(*inputs))
            except Exception as error:
                outcome.errors["error"] = name_error(error)
                self.restore_states(saved)
                result = None
            else:
                outcome.parts["outputs"] = [make_leaf(leaf) for leaf in result]
                targets = [square(t) for t in result if is_differentiable(t)]
        outcome.parts["variables"] = [make_leaf(s) for s in self.states]
        if result is not None and self.order and sources and targets:
            self.differentiate(outcome, inner, outer, targets, sources)
        return outcome

    def differentiate(self, outcome: Any, inner: Any, outer: Any, targets: Any, by: Any) -> None:
        """Note the first and second derivatives."""
        try:
            with outer:
                slopes = inner.gradient(targets, by)
                outcome.parts["gradients"] = [make_leaf(slope) for slope in slopes]
                kept = [square(s) for s in slopes if s is not None]
            if self.order > 1 and kept:
                curves = outer.gradient(kept, by)
                outcome.parts["second"] = [make_leaf(curve) for curve in curves]
        except Exception as error:
            outcome.errors["gradients"] = name_error(error)

    def copy_state(self, state: Any) -> Any:
        """The value of a variable or a generator."""
        state = state.state if isinstance(state, tf.random.Generator) else state
        return np.array(state.numpy())

    def restore_states(self, saved: list[Any]) -> None:
        """Undo the assignments of a call that failed, as a `tf.function` does."""
        for state, value in zip(self.states, saved, strict=True):
            if RUNS_EAGERLY[0] or "compiled" not in self.traits:
                variable = state.state if isinstance(state, tf.random.Generator) else state
                variable.assign(value)


RUNS_EAGERLY = [False]


def name_error(error: BaseException) -> str:
    """The class of an error, and its first line for the reader."""
    text = str(error).strip().splitlines()
    bases = [base.__name__ for base in type(error).__mro__[1:-3]]
    names = f"{type(error).__name__} ({', '.join(bases)})" if bases else type(error).__name__
    return f"{names}: {text[0][:200] if text else ''}"


def is_differentiable(value: Any) -> bool:
    """Whether a value is a float or complex tensor or variable."""
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        return False
    return bool(value.dtype.is_floating or value.dtype.is_complex)


def square(value: Any) -> Any:
    """A real number that depends on every element."""
    value = tf.convert_to_tensor(value)
    if value.dtype.is_complex:
        return tf.reduce_sum(tf.math.real(value * tf.math.conj(value)))
    return tf.reduce_sum(value * value)


def run_program(program: Program, eager: bool, noise: Any = None) -> list[Outcome]:
    """Outcomes of all calls; with `noise` the results of statements are slightly off."""
    source = program.render("jitter" if noise else "")
    RUNS_EAGERLY[0] = eager
    tf.config.run_functions_eagerly(eager)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return Runner(source, program.order, program.traits, noise).run()
    finally:
        RUNS_EAGERLY[0] = False
        tf.config.run_functions_eagerly(False)


class Jitter:
    """Changes float tensors by a few units in the last place; gradients pass."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.is_absolute = bool(seed % 2)

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, tf.Tensor) or not is_differentiable(value):
            return value
        array = tf.stop_gradient(value).numpy() if not is_symbolic(value) else None
        if array is None or not array.size:
            return value
        size = NOISE.get(value.dtype.name, 4e-15)
        scale = np.abs(array.astype(np.complex128))
        if self.is_absolute:
            scale = np.maximum(scale, np.max(scale))
        change = self.draw.choice([-1.0, 1.0], array.shape) * size * scale
        change = np.where(np.isfinite(change), change, 0)
        return value + tf.constant(change.astype(array.dtype))


def is_symbolic(value: Any) -> bool:
    """Whether a tensor belongs to a trace (a dataset's function) and has no value to show."""
    return type(value) is not type(tf.constant(0.0))


# -- comparison


def compare_outcomes(
    wanted: list[Outcome], got: list[Outcome], traits: frozenset[str], engine: str
) -> list[Difference]:
    """Every difference of two runs."""
    found: list[Difference] = []
    for call, (want, have) in enumerate(zip(wanted, got, strict=False)):
        found += compare_calls(call, want, have, traits)
        if "error" in want.errors and "error" not in have.errors and engine == "xla":
            return found[:-1]  # XLA does not check values: docs/xla.md
    return found


def compare_calls(
    call: int, want: Outcome, have: Outcome, traits: frozenset[str]
) -> list[Difference]:
    """Differences of one call."""
    for part in ("error", "gradients"):
        a, b = want.errors.get(part), have.errors.get(part)
        if not is_same_class(a, b):
            text = f"eagerly {a or 'no error'}, in a function {b or 'no error'}"
            text += f" ({' '.join(sorted(traits))})" if traits else ""
            classes = f"{(a or '').split(':')[0]} {(b or '').split(':')[0]}"
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
    return eager.split(":")[0].split(" ")[0] in (names[1], *(names[2] or "").split(", "))


def list_allowances(part: str, traits: frozenset[str]) -> frozenset[str]:
    """What the comparison of a part allows: None may be zeros in second order."""
    if part == "gradients":
        return traits
    return traits | {"nodes"} if part == "second" else frozenset()


def compare_leaves(a: Leaf, b: Leaf, traits: Any) -> tuple[str, str] | None:
    """What differs between two leaves, in a word and in a sentence."""
    if "None" in (a.kind, b.kind):
        other = b if a.kind == "None" else a
        if a.kind == b.kind or ("nodes" in traits and is_zero_or_nan(other)):
            return None
        return "none", f"eagerly {show(a)}, in a function {show(b)}"
    for what in ("kind", "dtype", "shape"):
        if getattr(a, what) != getattr(b, what):
            return what, f"eagerly {show(a)}, in a function {show(b)}"
    if are_close(a, b) or ("nodes" in traits and is_zero_times_infinity(a, b)):
        return None
    return "value", f"eagerly {show(a)}, in a function {show(b)}"


def is_zero_or_nan(leaf: Leaf) -> bool:
    """Whether all elements are zeros, or zeros that met an infinite derivative."""
    array = np.asarray(leaf.array).astype(np.complex128)
    return bool(np.all((array == 0) | np.isnan(array)))


def is_zero_times_infinity(a: Leaf, b: Leaf) -> bool:
    """Whether a function has NaN only: zeros of a branch not taken met an infinite derivative."""
    if a.array.dtype.kind not in "fcV":
        return False
    missing = np.isnan(np.asarray(b.array).astype(np.complex128))
    return not np.any(find_mismatches(a, b) & ~missing)


def show(leaf: Leaf) -> str:
    """A leaf in one line."""
    values = " ".join(np.array2string(np.asarray(leaf.array), threshold=20).split())
    return f"{leaf.kind} {leaf.dtype}{list(leaf.shape)} {values}"


def are_close(a: Leaf, b: Leaf) -> bool:
    """Whether two arrays are equal within the tolerances."""
    if not isinstance(a.array, (np.ndarray, np.generic)):
        return bool(a.array == b.array)
    if a.array.dtype.kind in "biuOS":
        return bool(np.array_equal(a.array, b.array))
    if a.dtype in HALVES and not np.all(np.isfinite(a.array.astype(float))):
        return True  # half types overflow earlier or later, depending on the order of sums
    return not np.any(find_mismatches(a, b))


def find_mismatches(a: Leaf, b: Leaf, spread: Any = 0.0) -> Any:
    """Where two arrays of floats differ by more than the tolerance and `spread`."""
    rtol, atol = TOLERANCE.get(a.dtype, (RTOL, ATOL))
    x, y = (np.asarray(leaf.array).astype(np.complex128) for leaf in (a, b))
    with np.errstate(all="ignore"):
        close = np.abs(x - y) <= atol + rtol * np.abs(x) + spread
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if a.dtype.startswith("complex"):  # kernels differ in which part of infinity is NaN
        same |= ~np.isfinite(x) & ~np.isfinite(y)
    return ~(same | (np.isfinite(x) & close))


def find_differences(
    program: Program, engine: str = "numpy", features: frozenset[str] = frozenset()
) -> tuple[list[Difference], bool]:
    """Differences between the eager run and the function; whether only rounding explains them."""
    signal.signal(signal.SIGALRM, stop_program)
    signal.alarm(SECONDS)
    try:
        wanted = run_program(program, eager=True)
        got = run_program(program, eager=False)
        found = compare_outcomes(wanted, got, program.traits, engine)
        found = [d for d in found if not is_refusal(d, features)]
        if found and is_unused_error(found[0]):
            program = program.prune()
            wanted = run_program(program, eager=True)
            got = run_program(program, eager=False)
            found = compare_outcomes(wanted, got, program.traits, engine)
        if found and is_unstable(program, wanted, got, found):
            return found, True
        return found, False
    except TooSlowError:
        return [Difference(0, "error", 0, "time", f"no end within {SECONDS} s")], False
    finally:
        signal.alarm(0)


def is_refusal(difference: Difference, features: frozenset[str]) -> bool:
    """Whether a function refused what it is known not to do."""
    return any(
        feature not in features and re.search(refusal, difference.text)
        for feature, refusal in REFUSALS.items()
    )


def is_unused_error(difference: Difference) -> bool:
    """Whether only eager mode raised: perhaps in a statement whose result nothing uses."""
    return difference.part == "error" and difference.what.endswith(" ")


class TooSlowError(BaseException):
    """Raised by an alarm; no handler of the program catches it."""


def stop_program(signum: int, frame: Any) -> None:
    """End a program that does not end."""
    raise TooSlowError


def is_unstable(
    program: Program, wanted: list[Outcome], got: list[Outcome], found: list[Difference]
) -> bool:
    """Whether every difference is within what rounding errors of the statements can cause."""
    runs = [run_program(program, eager=True, noise=Jitter(k)) for k in range(NOISY_RUNS)]
    return all(is_rounding(difference, wanted, got, runs, program) for difference in found)


def is_rounding(
    difference: Difference, wanted: Any, got: Any, runs: list[Any], program: Program
) -> bool:
    """Whether noise changes this value about as much as the function did."""
    call, part, place = difference[:3]
    if difference.what != "value":
        return any(
            bool(compare_outcomes(wanted[: call + 1], run[: call + 1], program.traits, ""))
            and not compare_outcomes(run[: call + 1], got[: call + 1], program.traits, "")
            for run in runs
        )
    a, b = wanted[call].parts[part][place], got[call].parts[part][place]
    others = [run[call].parts.get(part, []) for run in runs if call < len(run)]
    leaves = [leaves[place] for leaves in others if place < len(leaves)]
    leaves = [leaf for leaf in leaves if leaf.shape == a.shape and leaf.dtype == a.dtype]
    if a.array.dtype.kind in "biuOS" or not leaves:
        return any(not np.array_equal(leaf.array, a.array) for leaf in leaves)
    base = np.asarray(a.array).astype(np.complex128)
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(leaf.array.astype(np.complex128) - base) for leaf in leaves], 0)
    spread = np.where(np.isnan(spread), np.inf, spread)
    return not np.any(find_mismatches(a, b, 20 * spread))
