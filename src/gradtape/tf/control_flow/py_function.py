"""Python functions as ops: py_function on tensors, numpy_function on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.argument import as_host_array, as_sequence, check_callable
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.context import current_trace, no_recording
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, as_op_error, public
from gradtape.core.primitive import Spec
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.symbolic_tensor import Opaque
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.graph import Effect
from gradtape.graph.trace_op import make_trace_op
from gradtape.tape.custom_gradient_step import record_custom_gradient
from gradtape.tape.gradient_tape import GradientTape
from gradtape.tape.source import variable_of


@public
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803  TensorFlow's name
    name: str | None = None,
) -> Any:
    """Call `func` on tensors; gradients flow to `inp`, but not to other tensors `func` uses.

    Args:
        func: function of tensors that returns a tensor, a list of them, or None.
            Without it, a decorator is returned.
        inp: list of arguments of `func`.
        Tout: dtype of the result, or a list of dtypes of the results.
        name: has no effect here.

    Returns:
        A tensor; a list of tensors if `Tout` is a list.

    Raises:
        InvalidArgumentError: if `func` raises ValueError or TypeError, or its results do not
            match `Tout`. Other exceptions become other subclasses of OpError.
    """
    if Tout is None:
        raise TypeError("py_function: Missing required argument: 'Tout'.")
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: py_function(f, args, Tout))
    if not callable(func):
        raise ValueError(f"py_function: Expected func to be callable. Received func={func!r}.")
    given = as_sequence(inp, "inp")
    if has_composites(given, Tout):
        return call_with_composites(func, given, Tout)
    inputs = [convert(value) for value in given]
    several = isinstance(Tout, (list, tuple))
    specs = [as_result_spec(t) for t in (Tout if several else [Tout])]
    stage = current_trace()
    if stage:
        outs = trace_py_function(stage[0], func, inputs, specs, several)
    else:
        run = PythonCall(func, [t._array for t in inputs], specs, several)
        outs = record_custom_gradient(run.results, inputs, run.gradient)
    return outs if several else outs[0]


def is_composite_spec(spec: Any) -> bool:
    """Whether a result is described as ragged or sparse."""
    return isinstance(spec, TypeSpec) and not isinstance(spec, TensorSpec)


def has_composites(inputs: Any, described: Any) -> bool:
    """Whether an input or a result is ragged or sparse."""
    results = described if isinstance(described, (list, tuple)) else [described]
    return any(map(is_composite, inputs)) or any(map(is_composite_spec, results))


def is_composite(value: Any) -> bool:
    """Whether a value is ragged or sparse; a variable, which Keras takes for composite, is not."""
    return isinstance(value, CompositeTensor) and variable_of(value) is None


def call_with_composites(func: Callable[..., Any], inputs: Any, described: Any) -> Any:
    """As `py_function`, with ragged and sparse tensors passed as their components."""
    several = isinstance(described, (list, tuple))
    specs = list(described) if several else [described]
    inputs = [t if is_composite(t) else convert(t) for t in inputs]

    def call_on_components(*components: Tensor) -> list[Any]:
        answer = func(*nest.pack_sequence_as(inputs, list(components), expand_composites=True))
        answers = list(answer) if several else [answer]
        return nest.flatten(
            [convert_to_spec(one, spec) for one, spec in zip(answers, specs, strict=True)],
            expand_composites=True,
        )

    parts = [spec._component_specs if is_composite_spec(spec) else spec for spec in specs]
    outs = py_function(
        call_on_components, nest.flatten(inputs, expand_composites=True), nest.flatten(parts)
    )
    packed = nest.pack_sequence_as(parts, outs)
    results = [
        spec._from_components(part) if is_composite_spec(spec) else part
        for spec, part in zip(specs, packed, strict=True)
    ]
    return results if several else results[0]


def convert_to_spec(value: Any, spec: Any) -> Any:
    """A result of the user's function, after a check that it is ragged or sparse if it must be."""
    if not is_composite_spec(spec):
        return convert(value, as_result_spec(spec).dtype)
    if not isinstance(value, spec.value_type):
        raise TypeError(
            f"py_function: Tout says {spec.value_type.__name__}, but func returned {value!r}."
        )
    return value


class PythonCall:
    """A call of a Python function on tensors, recorded on its own tape."""

    def __init__(
        self, func: Callable[..., Any], raws: Any, specs: list[TensorSpec], several: bool
    ) -> None:
        """Call `func` on new tensors, so that none is mistaken for a read of a variable."""
        self.tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self.inputs: list[Tensor] = [make_tensor(raw) for raw in raws]
        with no_recording(), self.tape:
            self.tape.watch([t for t in self.inputs if t.dtype.is_floating or t.dtype.is_complex])
            self.results = call_and_convert(func, self.inputs, specs, several)

    def gradient(self, *cotangents: Tensor) -> list[Any]:
        """Gradients with respect to the arguments."""
        answers: list[Any] = self.tape.gradient(
            self.results, self.inputs, output_gradients=list(cotangents)
        )
        return answers


def trace_py_function(
    trace: Any,
    func: Callable[..., Any],
    inputs: list[Tensor],
    specs: list[TensorSpec],
    several: bool,
) -> list[Tensor]:
    """Record a node that calls `func` in each run and hands its tape to the gradient as a value."""

    def kernel(*raws: Any) -> tuple[Any, ...]:
        run = PythonCall(func, raws, specs, several)
        return (*(t._array for t in run.results), Opaque(run))

    described = [*specs, Spec(((), np.dtype(object)))]  # the tape of a call is an object
    *results, run = trace.run_effect(Effect("py_function", kernel, key=func), inputs, described)
    if trace.is_abstract:
        return list(results)

    def grad(*cotangents: Tensor) -> list[Any]:
        connected: list[int] = []

        def backward(*raws: Any) -> tuple[Any, ...]:
            with no_recording():
                answers = raws[0].item.gradient(*map(make_tensor, raws[1:]))
            if not connected:
                connected.extend(i for i, a in enumerate(answers) if a is not None)
            return tuple([convert(answers[i])._array for i in connected])

        answers: list[Any] = [None] * len(inputs)
        op = make_trace_op(backward, outputs=True)
        op.key = ("py_function", func)
        found = trace.bind(op, (run, *cotangents), {})
        for i, answer in zip(connected, found, strict=True):
            answers[i] = answer
        return answers

    return record_custom_gradient(results, inputs, grad)


def as_result_spec(described: Any) -> Any:
    """Convert a dtype to a TensorSpec; a TensorSpec, or a Spec with sizes of a trace, stays."""
    is_spec = isinstance(described, (TensorSpec, Spec))
    return described if is_spec else TensorSpec(None, described)


def call_and_convert(
    func: Callable[..., Any], inputs: list[Tensor], specs: list[TensorSpec], several: bool
) -> list[Tensor]:
    """Call the function and convert its results to tensors."""
    try:
        answer = func(*inputs)
        answers = (
            []
            if answer is None
            else list(answer)
            if isinstance(answer, (list, tuple))
            else [answer]
        )
        results = [convert(a, spec.dtype) for a, spec in zip(answers, specs, strict=False)]
    except Exception as error:
        raise as_op_error("py_function", error) from error
    if len(answers) < len(specs) or (several and len(answers) > len(specs)):
        raise InvalidArgumentError(
            f"py_function: func returns {len(answers)} values, but Tout expects to see "
            f"{len(specs)} values."
        )
    return results


@public
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803  TensorFlow's name
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call `func` on NumPy arrays; no gradient flows through it.

    Args:
        func: function of arrays that returns an array, a list of arrays, or None.
            Without it, a decorator is returned.
        inp: list of arguments of `func`.
        Tout: dtype of the result, or a list of dtypes. Eagerly it is ignored.
        stateful: has no effect here.
        name: has no effect here.

    Returns:
        A tensor, or a list of tensors if `func` returns several values.
    """
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: numpy_function(f, args, Tout))
    stage = current_trace()
    if stage:
        several = isinstance(Tout, (list, tuple))
        outs = stage[0].run_effect(
            Effect("numpy_function", lambda *raws: call_on_arrays(func, raws, Tout), key=func),
            [convert(value) for value in inp],
            [as_result_spec(one) for one in (Tout if several else [Tout])],
        )
        return list(outs) if several else outs[0] if outs else None
    check_callable(func, "func")
    arrays = [np.array(as_host_array(value, "inp")) for value in as_sequence(inp, "inp")]
    answer = func(*arrays)
    results = [None if value is None else convert(value) for value in nest.flatten(answer)]
    return results[0] if len(results) == 1 else results


def call_on_arrays(
    func: Callable[..., Any], raws: tuple[Any, ...], described: Any
) -> tuple[Any, ...]:
    """Call a function of arrays; raise unless its results have the dtypes of `described`."""
    try:
        with no_recording():
            answer = func(*[np.array(raw)[()] for raw in raws])
    except Exception as error:
        raise as_op_error("numpy_function", error) from error
    several = isinstance(described, (list, tuple))
    specs = [as_result_spec(t) for t in (described if several else [described])]
    answers = nest.flatten(answer) if several else [answer]
    if len(answers) != len(specs):
        raise InvalidArgumentError(
            f"numpy_function: func returns {len(answers)} values, but Tout expects to see "
            f"{len(specs)} values."
        )
    results = [convert(value) for value in answers]
    for result, spec in zip(results, specs, strict=True):
        if result.dtype is not spec.dtype:
            raise InvalidArgumentError(
                f"numpy_function: func returned {result.dtype.name}, but Tout says "
                f"{spec.dtype.name}."
            )
    return tuple([result._array for result in results])
