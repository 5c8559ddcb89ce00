"""Functions of TensorFlow's private op modules that packages call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from gradtape.core.convert import convert
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.tape.no_gradient import without_gradient
from gradtape.tf.control_flow.cond_while import case
from gradtape.tf.control_flow.map import vectorized_map
from gradtape.tf.nn.convolution import convolution

ENABLE_CONTROL_FLOW_V2 = True
DenseSpec = TensorSpec


def is_in_xla_context(graph: Any) -> bool:
    """False: XLA never sees the functions that ask."""
    return False


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """`input`; differentiating through it raises LookupError."""
    return without_gradient(convert(input), f"PreventGradient ({message})")


def case_helper(
    cond_fn: Any,
    pred_fn_pairs: Any,
    default: Any,
    exclusive: bool,
    name: str | None,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """`tf.case`; predicates may be Python bools if `allow_python_preds`."""
    pairs = list(pred_fn_pairs)
    if allow_python_preds:
        pairs = [(convert(pred) if isinstance(pred, bool) else pred, fn) for pred, fn in pairs]
    return case(pairs, default, exclusive)


def constant_value_as_shape(tensor: Any) -> Any:
    """The shape that a tensor describes; unknown where its value is."""
    from gradtape.core.shapes import TensorShape
    from gradtape.tf.framework import get_static_value

    value = get_static_value(tensor)
    if value is None:
        return TensorShape([None] * int(tensor.shape[0]))
    return TensorShape([None if n < 0 else int(n) for n in value])


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor if it is known while tracing, else None."""
    return tensor.numpy() if isinstance(tensor, EagerTensor) else None


def pfor(loop_fn: Callable[[Any], Any], iters: Any, **options: Any) -> Any:
    """The results of `loop_fn(i)` for i in range(iters), stacked."""
    from gradtape.tf.array.range import range as range_

    return vectorized_map(loop_fn, range_(iters))


class Convolution:
    """A convolution with fixed strides, padding and dilations."""

    def __init__(
        self,
        input_shape: Any,
        filter_shape: Any,
        padding: Any,
        strides: Any = None,
        dilation_rate: Any = None,
        name: str | None = None,
        data_format: str | None = None,
        **options: Any,
    ) -> None:
        """Keep the arguments of `tf.nn.convolution`."""
        self._options = {
            "padding": padding,
            "strides": strides,
            "dilations": dilation_rate,
            "data_format": data_format,
        }

    def __call__(self, inp: Any, filter: Any) -> Any:
        """Convolve."""
        return convolution(inp, filter, **self._options)


@contextlib.contextmanager
def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """Scope without effect: assignment tracks values here."""
    yield value


def add_operators(operators: Any, operator_name: Any = None, addition_tiers: Any = None) -> Any:
    """The sum of linear operators, as a list of one operator."""
    from gradtape.tf.linalg.linear_operator import LinearOperatorFullMatrix

    if len(operators) == 1:
        return list(operators)
    total = operators[0].to_dense()
    for one in operators[1:]:
        total = total + one.to_dense()
    return [LinearOperatorFullMatrix(total)]


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """The class itself: operators are passed between functions as they are."""
    return cls


class UnusedTransformer:
    """A base of classes that rewrite source code; no source code is rewritten here."""
