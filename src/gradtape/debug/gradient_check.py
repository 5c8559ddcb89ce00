"""check_gradients: compare the gradients of a function with central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.argument import describe
from gradtape.core.convert import convert
from gradtape.core.dtypes import is_differentiable
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.debug.gradient_report import CheckedElement, GradientCheck
from gradtape.ops.elementwise import cast, conj, multiply, real
from gradtape.ops.reduce import reduce_sum
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.source import variable_of

# Relative step and tolerance of central differences, by the number of bytes of a real number.
STEPS = {8: 1e-5, 4: 4e-3, 2: 0.1}
TOLERANCES = {8: 1e-5, 4: 2e-2, 2: 0.2}


@public
def check_gradients(
    f: Callable[..., Any],
    args: Any,
    order: int = 2,
    tolerance: float | None = None,
    samples: int = 64,
) -> GradientCheck:
    """Compare the gradients of `f` with central differences.

    It checks the gradients by all floating tensors and variables in `args`. If `f` is a layer or
    module, it also checks those by its trainable variables. Elements next to a kink, such as that
    of relu, are skipped. Use float64 for sharp results: with float32 the tolerance is 2 %.

    Args:
        f: function, layer, loss or function with a custom gradient. It must be deterministic.
        args: a tuple or list of its arguments, or a single argument that is neither.
        order: 1 to check the gradient, 2 to check the derivative of the gradient, too.
        tolerance: the largest relative error; by default, one that fits the dtype.
        samples: how many elements of each argument or variable to check at most.

    Returns:
        A `GradientCheck`, which is true if all gradients are right. It names the worst element.

    Raises:
        ValueError: if `f` gives different values for the same arguments, or there is nothing to
            check.

    Example:
        >>> @tf.custom_gradient
        ... def square(x):
        ...     return x * x, lambda g: 3.0 * g * x
        >>> x = tf.constant([1.0, 2.0], tf.float64)
        >>> gradtape.debug.check_gradients(lambda x: tf.sin(x) * x, x).passed
        True
        >>> report = gradtape.debug.check_gradients(square, x, order=1)
        >>> report.passed, report.worst.source, report.worst.index
        (False, 'argument 0', (1,))
    """
    check_options(f, order, tolerance, samples)
    check = Checker(f, tuple(args) if type(args) in (tuple, list) else (args,), samples)
    report = GradientCheck()
    for level in range(1, order + 1):
        check.compare(level, report, tolerance)
    report.wrong.sort(key=lambda element: -element.error)
    return report


def check_options(f: Any, order: Any, tolerance: Any, samples: Any) -> None:
    """Refuse invalid arguments of `check_gradients`.

    Raises:
        TypeError, ValueError: if one of them is invalid.
    """
    if not callable(f):
        raise TypeError(f"check_gradients: f must be callable. Received {describe(f)}.")
    if type(order) is not int or order not in (1, 2):
        raise ValueError(f"check_gradients: order must be 1 or 2. Received {describe(order)}.")
    if type(samples) is not int or samples < 1:
        raise ValueError(
            f"check_gradients: samples must be a positive integer. Received {describe(samples)}."
        )
    if tolerance is not None and not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise ValueError(
            "check_gradients: tolerance must be a number that is not negative. Received "
            f"{describe(tolerance)}."
        )


class CheckedSource:
    """A tensor among the arguments, or a variable."""

    def __init__(self, name: str, thing: Any) -> None:
        """Name a source."""
        self.name = name
        self.variable = variable_of(thing)
        value = convert(thing) if self.variable is None else self.variable._stored_version()
        self.raw = np.array(value._array)

    def is_real(self) -> bool:
        """Whether it holds real numbers."""
        return self.raw.dtype.kind != "c"


class Checker:
    """Evaluates a weighted sum of the results of a function, and its derivatives."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], samples: int) -> None:
        """Find the sources, and draw the weights of the results."""
        self.f = f
        self.args = args
        self.samples = samples
        self.rng = np.random.default_rng(0)
        self.places: list[int] = []  # positions of the tensors among the leaves of `args`
        self.sources = self.find_sources()
        if not self.sources:
            raise ValueError(
                "check_gradients: there must be a floating argument or a trainable variable. "
                "Received none."
            )
        first, again = ([np.asarray(t._array) for t in self.call(self.values())] for _ in (0, 1))
        if any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(first, again, strict=True)):
            raise ValueError(
                "check_gradients: f must be deterministic. Received different values for the same "
                "arguments. Fix the seed inside f, or turn dropout off."
            )
        self.width = min(real_itemsize(raw) for raw in (*first, *self.values()))
        self.weights = [self.draw(raw) for raw in first]
        self.directions = [self.draw(source.raw) for source in self.sources]

    def find_sources(self) -> list[CheckedSource]:
        """The tensors and variables to differentiate by."""
        found: list[CheckedSource] = []
        seen: set[int] = set()
        leaves = nest.flatten(self.args)
        owners = [leaf for leaf in (*leaves, self.f) if hasattr(leaf, "trainable_variables")]
        things = [(None, variable) for owner in owners for variable in owner.trainable_variables]
        for position, thing in [*enumerate(leaves), *things]:
            variable = variable_of(thing)
            if variable is not None:
                if variable._key not in seen and is_differentiable(variable._raw_dtype):
                    seen.add(variable._key)
                    name = str(getattr(thing, "path", None) or variable.name.split(":")[0])
                    found.append(CheckedSource(name, thing))
            elif position is not None and is_float_value(thing):
                self.places.append(position)
                found.append(CheckedSource(self.name_argument(position), thing))
        return found

    def name_argument(self, position: int) -> str:
        """The name of a leaf of the arguments: its argument, and its path inside."""
        leaves = 0
        for i, arg in enumerate(self.args):
            flat = nest.flatten(arg)
            if position < leaves + len(flat):
                inside = f"[{position - leaves}]" if nest.is_nested(arg) else ""
                return f"argument {i}{inside}"
            leaves += len(flat)
        return f"argument {position}"

    def values(self) -> list[Any]:
        """The raw values of all sources."""
        return [source.raw for source in self.sources]

    def draw(self, raw: Any) -> Any:
        """Random weights of the shape and dtype of an array."""
        drawn = self.rng.uniform(0.5, 1.5, raw.shape)
        if raw.dtype.kind == "c":
            drawn = drawn + 1j * self.rng.uniform(0.5, 1.5, raw.shape)
        return np.asarray(drawn).astype(raw.dtype)

    def call(self, raws: Sequence[Any], tape: GradientTape | None = None) -> list[Tensor]:
        """Floating results of `f` at these values of the sources; `tape` watches the tensors."""
        self.tensors: list[Any] = []
        leaves = nest.flatten(self.args)
        places = iter(self.places)
        for source, raw in zip(self.sources, raws, strict=True):
            if source.variable is not None:
                source.variable.assign(make_tensor(np.array(raw)))
                self.tensors.append(source.variable)
            else:
                tensor = raw if isinstance(raw, Tensor) else make_tensor(np.array(raw)[()])
                leaves[next(places)] = tensor
                self.tensors.append(tensor)
        if tape is not None:
            tape.watch(self.tensors)
        result = self.f(*nest.pack_sequence_as(self.args, leaves))
        outs = [convert(leaf) for leaf in nest.flatten(result) if leaf is not None]
        return [out for out in outs if is_differentiable(out._array.dtype)]

    def evaluate(self, raws: Sequence[Any], level: int, differentiate: bool) -> Any:
        """The weighted sum of order `level` - 1, or its gradients."""
        try:
            with GradientTape() as outer:
                if level == 1:
                    outs = self.call(raws, outer)
                    total = weigh(outs, self.weights)
                else:
                    outer_sources = self.watch_all(raws, outer)
                    with GradientTape() as inner:
                        outs = self.call(outer_sources, inner)
                        value = weigh(outs, self.weights)
                    grads = inner.gradient(value, self.tensors)
                    present = [
                        (convert(g), v)
                        for g, v in zip(grads, self.directions, strict=True)
                        if g is not None
                    ]
                    total = weigh([g for g, _ in present], [v for _, v in present])
            if not differentiate:
                return float(total._array)
            return [as_raw(g) for g in outer.gradient(total, self.tensors)]
        finally:
            for source in self.sources:
                if source.variable is not None:
                    source.variable.assign(make_tensor(source.raw))

    def watch_all(self, raws: Sequence[Any], tape: GradientTape) -> list[Any]:
        """The sources as tensors that `tape` watches; variables as raw arrays."""
        made = []
        for source, raw in zip(self.sources, raws, strict=True):
            if source.variable is None:
                tensor = make_tensor(np.array(raw)[()])
                tape.watch(tensor)
                made.append(tensor)
            else:
                made.append(raw)
        return made

    def compare(self, level: int, report: GradientCheck, tolerance: float | None) -> None:
        """Compare all sources at one order."""
        grads = self.evaluate(self.values(), level, True)
        center = self.evaluate(self.values(), level, False)
        found = []
        for i, (source, grad) in enumerate(zip(self.sources, grads, strict=True)):
            size = source.raw.size
            chosen = np.arange(size)
            if size > self.samples:
                chosen = np.sort(self.rng.choice(size, self.samples, replace=False))
            for flat in chosen.tolist():
                index = tuple(int(k) for k in np.unravel_index(flat, source.raw.shape))
                estimate = self.estimate(i, index, level, center)
                if estimate is None:
                    report.skipped += 1
                    continue
                by_tape = 0.0 if grad is None else grad[index].item()
                found.append((source, index, by_tape, estimate))
        scale = max([abs(d) for *_, d in found] + [abs(t) for _, _, t, _ in found] + [1e-3])
        for source, index, by_tape, estimate in found:
            limit = TOLERANCES[self.width] if tolerance is None else tolerance
            error = abs(by_tape - estimate) / scale
            report.add(CheckedElement(level, source.name, index, by_tape, estimate, error), limit)

    def estimate(self, i: int, index: tuple[int, ...], level: int, center: float) -> Any:
        """The derivative by one element, by central differences; None next to a kink.

        The difference between the slopes on both sides shrinks with the step, except at a kink.
        """
        source = self.sources[i]
        limit = 10 * TOLERANCES[self.width]
        parts = []
        for unit in (1.0,) if source.is_real() else (1.0, 1j):
            bends, slopes = [], []
            for share in (1.0, 0.5):
                right, left = (
                    self.one_sided_slope(i, index, level, sign * share * unit, center)
                    for sign in (1, -1)
                )
                bends.append(abs(right - left))
                slopes.append((right + left) / 2)
            size = limit * max(*map(abs, slopes), 1.0)
            if abs(slopes[0] - slopes[1]) > size or (
                bends[1] > size and bends[1] > 0.75 * bends[0]
            ):
                return None
            parts.append(slopes[1])
        return parts[0] if source.is_real() else complex(parts[0], parts[1])

    def one_sided_slope(
        self, i: int, index: tuple[int, ...], level: int, unit: complex, center: float
    ) -> float:
        """The slope between the given point and one that is a step along `unit` away."""
        raw = self.sources[i].raw
        step = STEPS[self.width] * max(1.0, abs(raw[index].item())) * unit
        values = self.values()
        shifted = values[i] = raw.copy()
        shifted[index] = shifted[index] + shifted.dtype.type(step)
        moved = complex(shifted[index].item() - raw[index].item())
        signed = abs(moved) if (step.real + step.imag) > 0 else -abs(moved)
        return float((self.evaluate(values, level, False) - center) / signed)


def is_float_value(thing: Any) -> bool:
    """Whether a leaf is a floating or complex tensor, array or number."""
    if isinstance(thing, (Tensor, np.ndarray, np.generic, float, complex)):
        return is_differentiable(convert(thing)._array.dtype)
    return False


def real_itemsize(raw: Any) -> int:
    """The number of bytes of a real number of this dtype."""
    size = int(raw.dtype.itemsize)
    return size // 2 if raw.dtype.kind == "c" else size


def as_raw(gradient: Any) -> Any:
    """A gradient as an array; None stays None."""
    return None if gradient is None else np.asarray(convert(gradient)._array)


def weigh(outs: list[Tensor], weights: list[Any]) -> Any:
    """The sum of the results times their weights, as a real float64 tensor."""
    total: Any = make_tensor(np.float64(0))
    for out, weight in zip(outs, weights, strict=True):
        product = multiply(out, conj(make_tensor(weight)) if weight.dtype.kind == "c" else weight)
        part = real(product) if weight.dtype.kind == "c" else product
        n = len(part._array.shape)
        wide = cast(part, dtype=np.dtype(np.float64))
        total = total + reduce_sum(wide, axis=tuple(range(-n, 0)), keepdims=False)
    return total
