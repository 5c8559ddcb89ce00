"""Random programs: variables, functions, arguments, a body of random statements, and calls."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

import numpy as np

import gradtape as tf
from tests.fuzz.generator import (
    control_flow,
    elementwise,
    gradient,
    matrix,
    pipeline,
    randomness,
    reduction,
    shape,
    state,
)
from tests.fuzz.generator.corpus import draw_corpus
from tests.fuzz.generator.scope import Scope, Setting, Unfit
from tests.fuzz.generator.source import Program, Statement
from tests.fuzz.generator.values import (
    draw_array,
    draw_dtype,
    draw_shape,
    render_tensor,
)

ALWAYS = {elementwise.draw_unary: 10.0, elementwise.draw_binary: 8.0}
SOMETIMES = {
    elementwise.draw_select: 2.0,
    elementwise.draw_cast: 3.0,
    elementwise.draw_complex: 1.0,
    reduction.draw_reduction: 5.0,
    reduction.draw_along_axis: 3.0,
    reduction.draw_top_k: 1.0,
    reduction.draw_segments: 1.5,
    reduction.draw_count: 1.0,
    shape.draw_reshape: 2.0,
    shape.draw_transpose: 2.0,
    shape.draw_axis_change: 4.0,
    shape.draw_broadcast: 1.0,
    shape.draw_index: 4.0,
    shape.draw_gather: 3.0,
    shape.draw_scatter: 2.0,
    shape.draw_partition: 1.0,
    shape.draw_shape_value: 1.0,
    matrix.draw_matmul: 3.0,
    matrix.draw_decomposition: 1.5,
    matrix.draw_layer: 2.0,
    control_flow.draw_cond: 3.0,
    control_flow.draw_python_if: 3.0,
    control_flow.draw_while_loop: 3.0,
    control_flow.draw_map: 3.0,
    control_flow.draw_python_loop: 3.0,
    control_flow.draw_tensor_array: 2.0,
    state.draw_read: 4.0,
    state.draw_assignment: 4.0,
    state.draw_sparse_assignment: 2.0,
    gradient.draw_tape: 4.0,
    gradient.draw_training_step: 3.0,
    gradient.draw_forward_mode: 1.0,
    gradient.draw_custom_gradient: 2.0,
    gradient.draw_call: 5.0,
    randomness.draw_stateless: 1.0,
    randomness.draw_stateful: 0.5,
    randomness.draw_from_generator: 1.0,
    pipeline.draw_dataset: 6.0,
    draw_corpus: 2.0,
}
FULLEST = 12


class Parameter(NamedTuple):
    """An argument: its source, in which TENSOR stands for arrays that calls may change."""

    name: str
    form: str
    arrays: list[tuple[Any, str]]


def draw_kinds(draw: Random) -> dict[Any, float]:
    """The kinds of statements of one program: fewer kinds meet more often."""
    kinds: dict[Any, float] = dict(ALWAYS)
    share = draw.choice([0.2, 0.4, 0.7])
    for kind, weight in SOMETIMES.items():
        if draw.random() < share:
            kinds[kind] = weight * draw.choice([1, 1, 3])
    return kinds


def draw_program(seed: int, index: int, features: frozenset[str] = frozenset()) -> Program:
    """Program number `index` of a seed; the same arguments give the same program."""
    draw = Random(f"{seed}/{index}")
    sizes = [draw.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(2)]
    if draw.random() < 0.12:
        sizes.append(0)
    setting = Setting(draw, sizes, draw_kinds(draw), features)
    setting.order = draw.choice([0, 1, 1, 2])
    setting.is_special = draw.random() < 0.06
    setting.may_raise = draw.random() < 0.15
    is_compiled = draw.random() < (0.5 if pipeline.draw_dataset in setting.kinds else 0.97)
    setting.traits |= {"compiled"} if is_compiled else set()
    scope = Scope(setting)
    scope.env.update(tf=tf, np=np, inf=np.inf, nan=np.nan)
    setting.setup.append(Statement("", f"tf.random.set_seed({draw.randint(0, 99)})"))
    draw_states(scope)
    parameters = draw_parameters(scope)
    for _ in range(draw.choice([0, 0, 1, 2])):
        try:
            gradient.draw_function(scope)
        except Unfit:
            continue
    scope.draw_statements(draw.randint(2, FULLEST))
    outputs = draw_outputs(scope)
    return Program(
        setup=setting.setup,
        body=scope.close(f"return {outputs}"),
        parameters=[parameter.name for parameter in parameters],
        calls=draw_calls(scope, parameters),
        variables=setting.states,
        order=setting.order,
        decorator=draw_decorator(scope, parameters) if is_compiled else "",
        traits=frozenset(setting.traits),
    )


def draw_states(scope: Scope) -> None:
    """Variables and a generator."""
    for _ in range(scope.draw.choice([0, 1, 1, 2, 3])):
        state.draw_variable(scope)
    if scope.draw.random() < 0.3:
        name = scope.make_name("g")
        text = f"{name} = tf.random.Generator.from_seed(7)"
        exec(text, scope.env)
        scope.setting.setup.append(Statement(name, text))
        scope.setting.states.append(name)


def draw_parameters(scope: Scope) -> list[Parameter]:
    """The arguments of the function: tensors, and now and then something else."""
    draw = scope.draw
    parameters: list[Parameter] = []
    for place in range(draw.choice([1, 2, 2, 3])):
        dtype = draw_dtype(draw) if place else draw.choice(["float32", "float64"])
        shape = draw_shape(draw, scope.setting.sizes)
        array = draw_array(draw, dtype, shape, scope.setting.is_special)
        parameters.append(Parameter(scope.make_name("x"), "TENSOR", [(array, dtype)]))
        scope.define(parameters[-1].name, tf.constant(array, dtype))
    if draw.random() < 0.15:
        parameters.append(draw_number(scope, parameters[0].name))
    if draw.random() < 0.15:
        parameters.append(draw_structure(scope))
    if draw.random() < 0.15 and any(name[0] == "w" for name in scope.setting.states):
        parameters.append(draw_passed_variable(scope))
    return parameters


def draw_number(scope: Scope, factor: str) -> Parameter:
    """A number of Python among the arguments."""
    name, value = scope.make_name("n"), scope.draw.choice([2, 3, -1, True])
    scope.env[name] = value
    scope.own.add(name)
    with suppress(Unfit):
        scope.add(f"{factor} * {name}")
    return Parameter(name, repr(value), [])


def draw_structure(scope: Scope) -> Parameter:
    """A list or a dict of two tensors among the arguments."""
    name, draw = scope.make_name("p"), scope.draw
    keys, form = draw.choice(
        [((0, 1), "[TENSOR, TENSOR]"), (("a", "b"), "{'a': TENSOR, 'b': TENSOR}")]
    )
    arrays = []
    for _ in keys:
        dtype = draw.choice(["float32", "float64", "int32"])
        arrays.append((draw_array(draw, dtype, draw_shape(draw, scope.setting.sizes)), dtype))
    tensors = [tf.constant(*pair) for pair in arrays]
    scope.env[name] = tensors if keys == (0, 1) else dict(zip(keys, tensors, strict=True))
    scope.own.add(name)
    for key in keys:
        with suppress(Unfit):
            scope.add(f"{name}[{key!r}]")
    return Parameter(name, form, arrays)


def draw_passed_variable(scope: Scope) -> Parameter:
    """A variable among the arguments; by default the function does not capture it."""
    variables = [name for name in scope.setting.states if name[0] == "w"]
    name, state_name = scope.make_name("w"), scope.draw.choice(variables)
    scope.env[name] = scope.env[state_name]
    if "shared_variables" not in scope.setting.features:
        del scope.env[state_name]
    scope.own.add(name)
    scope.setting.passed[name] = state_name
    return Parameter(name, state_name, [])


def draw_calls(scope: Scope, parameters: list[Parameter]) -> list[list[str]]:
    """Three calls: some with the same values, some with others, now and then other shapes."""
    draw, is_special = scope.draw, scope.setting.is_special
    can_grow = not scope.setting.traits & {"nodes", "data"}
    grows = can_grow and draw.random() < 0.15

    def render(change: bool, grow: bool = False) -> list[str]:
        texts = []
        for parameter in parameters:
            text = parameter.form
            for array, dtype in parameter.arrays:
                if change:
                    shape = (
                        (array.shape[0] + 1, *array.shape[1:])
                        if grow and array.ndim
                        else array.shape
                    )
                    array = draw_array(draw, dtype, shape, is_special)
                text = text.replace("TENSOR", render_tensor(array, dtype), 1)
            texts.append(text)
        return texts

    first, second = render(False), render(True)
    third = render(True, grows)
    return draw.choice([[first, first, third], [first, second, first], [first, second, third]])


def draw_decorator(scope: Scope, parameters: list[Parameter]) -> str:
    """`tf.function`, now and then with options."""
    if scope.draw.random() < 0.1:
        return "@tf.function(reduce_retracing=True)"
    is_plain = all(parameter.form == "TENSOR" for parameter in parameters)
    if scope.draw.random() > 0.15 or not is_plain:
        return "@tf.function"
    specs = []
    for parameter in parameters:
        ((array, dtype),) = parameter.arrays
        shape = [
            None if not i or scope.draw.random() < 0.5 else n for i, n in enumerate(array.shape)
        ]
        specs.append(f"tf.TensorSpec({shape}, '{dtype}')")
    return f"@tf.function(input_signature=[{', '.join(specs)}])"


def draw_outputs(scope: Scope) -> str:
    """A structure of some of the results; what raised an error is one of them."""
    draw = scope.draw
    names = [s.target for s in scope.statements if s.target]
    if not names:
        names = [scope.names[-1]]
    kept = names[-1:] + draw.sample(names[:-1], min(len(names) - 1, draw.randint(0, 3)))
    form = draw.choice(["list", "tuple", "dict", "one"])
    if form == "one":
        return kept[0]
    if form == "dict":
        return "{" + ", ".join(f"'{name}': {name}" for name in kept) + "}"
    text = ", ".join(kept)
    return f"[{text}]" if form == "list" else f"({text},)"
