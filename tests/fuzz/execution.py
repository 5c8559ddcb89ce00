"""Run the calls of a random program and keep everything that can be compared."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from gradtape.core import nest
from tests.fuzz.generator.source import Program

NOISE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 6e-7, "complex64": 6e-7}
DOUBLE_NOISE = 4e-15


class Leaf(NamedTuple):
    """A value as it is compared."""

    kind: str
    dtype: str
    shape: tuple[int, ...]
    array: Any


@dataclass
class Outcome:
    """What one call showed.

    Attributes:
        parts: leaves of the outputs, gradients, second derivatives and variables.
        errors: for the call ("error") and its derivatives ("gradients") what was raised, if any.
    """

    parts: dict[str, list[Leaf]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def make_leaf(value: Any) -> Leaf:
    """A tensor, variable, IndexedSlices or Python value in a form that can be compared."""
    if value is None:
        return Leaf("None", "", (), None)
    if isinstance(value, (tf.Tensor, tf.Variable, tf.IndexedSlices)):
        kind = "IndexedSlices" if isinstance(value, tf.IndexedSlices) else "Tensor"
        array = tf.convert_to_tensor(value).numpy()
        return Leaf(kind, value.dtype.name, np.shape(array), array)
    if isinstance(value, tf.random.Generator):
        return make_leaf(value.state)
    return Leaf(type(value).__name__, "", (), value)


def describe_error(error: BaseException) -> str:
    """The class of an error, the classes that it is derived from, and its first line."""
    text = str(error).strip().splitlines()
    bases = [base.__name__ for base in type(error).__mro__[1:-3]]
    names = f"{type(error).__name__} ({', '.join(bases)})" if bases else type(error).__name__
    return f"{names}: {text[0][:200] if text else ''}"


def is_differentiable(value: Any) -> bool:
    """Whether a value is a float or complex tensor or variable."""
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        return False
    return bool(value.dtype.is_floating or value.dtype.is_complex)


def sum_squares(value: Any) -> Any:
    """A real number that depends on every element."""
    value = tf.convert_to_tensor(value)
    if value.dtype.is_complex:
        return tf.reduce_sum(tf.math.real(value * tf.math.conj(value)))
    return tf.reduce_sum(value * value)


class Run:
    """One run of a program: its function, its variables and generators, its calls."""

    def __init__(self, program: Program, undoes: bool, noise: Noise | None) -> None:
        """Execute the source; `undoes` says whether failed calls are undone here.

        A `tf.function` undoes a failed call itself.
        """
        source = program.render("add_noise" if noise else "")
        space: dict[str, Any] = {"add_noise": noise}
        exec(compile(source, "<program>", "exec"), space)
        self.function, self.states = space["make"]()
        self.calls = space["make_calls"](*self.states)
        self.program, self.undoes = program, undoes

    def run_calls(self) -> list[Outcome]:
        """The outcome of each call."""
        outcomes = []
        for arguments in self.calls:
            outcomes.append(self.run_call(arguments))
            if "error" in outcomes[-1].errors and "streams" in self.program.traits:
                break  # streams of ops with seeds cannot be set back
        return outcomes

    def run_call(self, arguments: list[Any]) -> Outcome:
        """Call the function once, under tapes if derivatives are wanted."""
        outcome, order = Outcome(), self.program.order
        before = [read_state(state) for state in self.states]
        variables = [state for state in self.states if isinstance(state, tf.Variable)]
        tensors = [t for t in nest.flatten(arguments) if isinstance(t, tf.Tensor)]
        sources = [t for t in [*tensors, *variables] if is_differentiable(t)]
        with tf.GradientTape(persistent=True) as outer, tf.GradientTape(persistent=True) as inner:
            if order > 0:
                inner.watch(sources)
            if order > 1:
                outer.watch(sources)
            try:
                leaves = nest.flatten(self.function(*arguments), expand_composites=False)
            except Exception as error:
                outcome.errors["error"] = describe_error(error)
                self.undo(before)
                targets = []
            else:
                outcome.parts["outputs"] = [make_leaf(leaf) for leaf in leaves]
                targets = [sum_squares(t) for t in leaves if is_differentiable(t)]
        outcome.parts["variables"] = [make_leaf(state) for state in self.states]
        if order and sources and targets:
            self.differentiate(outcome, inner, outer, targets, sources)
        return outcome

    def differentiate(
        self, outcome: Outcome, inner: Any, outer: Any, targets: Any, by: Any
    ) -> None:
        """Note the first and second derivatives."""
        try:
            with outer:
                slopes = inner.gradient(targets, by)
                outcome.parts["gradients"] = [make_leaf(slope) for slope in slopes]
                squares = [sum_squares(slope) for slope in slopes if slope is not None]
            if self.program.order > 1 and squares:
                curves = outer.gradient(squares, by)
                outcome.parts["second"] = [make_leaf(curve) for curve in curves]
        except Exception as error:
            outcome.errors["gradients"] = describe_error(error)

    def undo(self, before: list[Any]) -> None:
        """Give variables and generators their values before a call that failed."""
        if self.undoes:
            for state, value in zip(self.states, before, strict=True):
                variable = state.state if isinstance(state, tf.random.Generator) else state
                variable.assign(value)


def read_state(state: Any) -> Any:
    """A copy of the value of a variable or a generator."""
    return np.array((state.state if isinstance(state, tf.random.Generator) else state).numpy())


def run_program(program: Program, eager: bool, noise: Noise | None = None) -> list[Outcome]:
    """Outcomes of all calls; with `noise` the results of statements are slightly off."""
    tf.config.run_functions_eagerly(eager)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return Run(program, eager or not program.decorator, noise).run_calls()
    finally:
        tf.config.run_functions_eagerly(False)


class Noise:
    """Changes float tensors by a few units in the last place; gradients pass unchanged.

    Noise with an even seed is relative to each element, with an odd one to the largest element.
    """

    def __init__(self, seed: int) -> None:
        """Draw the signs from a generator with this seed."""
        self.draw = np.random.default_rng(seed)
        self.is_absolute = bool(seed % 2)

    def __call__(self, value: Any) -> Any:
        """`value` with noise, if it is a float tensor with a value."""
        if type(value) is not type(tf.constant(0.0)) or not is_differentiable(value):
            return value
        array = value.numpy()
        scale = np.abs(array.astype(np.complex128))
        if self.is_absolute and array.size:
            scale = np.maximum(scale, np.max(scale))
        size = NOISE.get(value.dtype.name, DOUBLE_NOISE)
        change = self.draw.choice([-1.0, 1.0], array.shape) * size * scale
        change = np.where(np.isfinite(change), change, 0)
        return value + tf.constant(change.astype(array.dtype))
