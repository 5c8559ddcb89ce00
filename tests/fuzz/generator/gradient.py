"""Statements with tapes, gradients of the user's own, and functions inside functions."""

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.source import Statement
from tests.fuzz.generator.state import check_assignable, pick_variable
from tests.fuzz.generator.values import COMPLEX, FLOATS

INDENT = "    "


def draw_target(inner: Scope) -> str:
    """Something to differentiate, computed in this block."""
    found = [n for n in inner.names if n in inner.own and inner.dtype(n) in (*FLOATS, *COMPLEX)]
    if not found:
        raise Unfit
    return found[-1]


def draw_source(scope: Scope) -> str:
    """A tensor or a variable to differentiate by."""
    if scope.draw.random() < 0.4:
        try:
            return pick_variable(scope, FLOATS)
        except Unfit:
            pass
    return scope.pick(FLOATS)


def draw_tape(scope: Scope) -> None:
    """The gradient, jacobian or second derivative of a block by a tensor."""
    if not scope.setting.order:
        raise Unfit
    source, draw = draw_source(scope), scope.draw
    tape = scope.make_name("k")
    inner = scope.draw_block({}, draw.randint(1, 4))
    target = draw_target(inner)
    kind = draw.choice(["gradient", "gradient", "jacobian", "second"])
    if kind == "jacobian" and inner.env[target].numpy().size * scope.env[source].numpy().size > 400:
        kind = "gradient"
    zeros = ", unconnected_gradients='zero'"
    watched = f"{tape}.watch({source})\n{INDENT}<0>"
    if kind == "second":
        outer = scope.make_name("k")
        slope = scope.make_name("s")
        deep = f"{INDENT * 2}{tape}.watch({source})\n{INDENT * 2}<0>"
        text = (
            f"with tf.GradientTape() as {outer}:\n{INDENT}{outer}.watch({source})\n"
            f"{INDENT}with tf.GradientTape() as {tape}:\n{deep}\n"
            f"{INDENT}{slope} = tf.convert_to_tensor({tape}.gradient({target}, {source}{zeros}))\n"
        )
        call = f"tf.convert_to_tensor({outer}.gradient({slope} * {slope}, {source}{zeros}))"
    else:
        persistent = draw.choice(["", "persistent=True"])
        text = f"with tf.GradientTape({persistent}) as {tape}:\n{INDENT}{watched}\n"
        call = f"tf.convert_to_tensor({tape}.{kind}({target}, {source}{zeros}))"
    scope.add(call, [inner.close("pass")], text)


def draw_training_step(scope: Scope) -> None:
    """A tape over a block, and a step of gradient descent on every variable of floats."""
    variables = [n for n in scope.setting.states if n[0] == "w" and n in scope.env]
    variables = [n for n in variables if scope.env[n].dtype.name in FLOATS]
    if not variables or scope.depth:
        raise Unfit
    check_assignable(scope, variables[0])
    tape, loss, slopes = scope.make_name("k"), scope.make_name(), scope.make_name("s")
    inner = scope.draw_block({}, scope.draw.randint(1, 4))
    target = draw_target(inner)
    if inner.dtype(target) in COMPLEX:
        raise Unfit
    parts = [f"tf.reduce_sum(tf.cast({n}, '{inner.dtype(target)}'))" for n in variables]
    ending = f"{loss} = tf.reduce_mean({target} * {target}) + 0.1 * tf.tanh({' + '.join(parts)})"
    listed = ", ".join(variables)
    lead = f"with tf.GradientTape() as {tape}:\n    <0>\n"
    steps = f"{slopes} = {tape}.gradient({loss}, [{listed}])\n"
    for place, name in enumerate(variables):
        steps += f"{name}.assign_sub(0.1 * tf.convert_to_tensor({slopes}[{place}]))\n"
    statement = Statement(loss, (lead + steps).rstrip(), [inner.close(ending)])
    scope.append(statement)


def draw_forward_mode(scope: Scope) -> None:
    """A jvp of a block."""
    if "forward_over_nodes" not in scope.setting.features:
        raise Unfit
    source, tape = scope.pick(FLOATS), scope.make_name("k")
    inner = scope.draw_block({}, scope.draw.randint(1, 4))
    target = draw_target(inner)
    made = f"tf.autodiff.ForwardAccumulator({source}, tf.ones_like({source}))"
    lead = f"with {made} as {tape}:\n    <0>\n"
    call = f"tf.convert_to_tensor({tape}.jvp({target}, unconnected_gradients='zero'))"
    scope.add(call, [inner.close("pass")], lead)


def draw_custom_gradient(scope: Scope) -> None:
    """`tf.custom_gradient` and `tf.recompute_grad`."""
    name = scope.pick(FLOATS)
    function, parameter, g = scope.make_name("b"), scope.make_name("a"), scope.make_name("g")
    around = scope if "closures" in scope.setting.features else scope.without_closures()
    inner = around.draw_block({parameter: scope.env[name]}, scope.draw.randint(1, 3))
    result = inner.result(scope.dtype(name), scope.shape(name))
    if scope.draw.random() < 0.3:
        block = inner.close(f"return {result}")
        lead = f"def {function}({parameter}):\n    <0>\n"
        scope.add(f"tf.recompute_grad({function})({name})", [block], lead)
        return
    factor = scope.draw.choice(["2.0 * ", "", "-"])
    rule = scope.draw.choice([f"{factor}{g}", f"{factor}{g} * tf.cos({parameter})"])
    block = inner.close(f"return {result}, lambda {g}: {rule}")
    lead = f"@tf.custom_gradient\ndef {function}({parameter}):\n    <0>\n"
    scope.add(f"{function}({name})", [block], lead)


def draw_function(scope: Scope) -> None:
    """A `tf.function` in the setup of the program, called by later statements."""
    setting = scope.setting
    names = [scope.make_name("a") for _ in range(scope.draw.randint(1, 2))]
    function = scope.make_name("h")
    around = Scope(setting)
    around.has_streams = False
    around.env = {n: v for n, v in scope.env.items() if n not in scope.own}
    parameters = {name: scope.env[scope.pick()] for name in names}
    inner = around.draw_block(parameters, scope.draw.randint(1, 4))
    own = [n for n in inner.names if n in inner.own and n not in names]
    if not own:
        raise Unfit
    block = inner.close(f"return {own[-1]}")
    text = f"@tf.function\ndef {function}({', '.join(names)}):\n    <0>"
    statement = Statement(function, text, [block])
    plain = "\n".join(line for line in statement.render() if line != "@tf.function")
    exec(plain, scope.env)
    setting.setup.append(statement)
    tensors = [parameters[name] for name in names]
    setting.functions[function] = [(t.dtype.name, tuple(t.shape)) for t in tensors]


def draw_call(scope: Scope) -> None:
    """A call of a function of the setup."""
    if not scope.setting.functions:
        raise Unfit
    function = scope.draw.choice(list(scope.setting.functions))
    if function not in scope.env:
        raise Unfit
    specs = scope.setting.functions[function]
    traits = scope.setting.traits
    if scope.in_node and "assigns" in traits:
        raise Unfit
    is_fixed = "nodes" in scope.setting.traits  # branches may not exist for other shapes
    names = [
        scope.pick((dtype,), lambda t, s=shape: not is_fixed or tuple(t.shape) == s)
        for dtype, shape in specs
    ]
    if scope.setting.order and len(set(names)) < len(names):
        raise Unfit  # a tape in the function could tell one tensor from two
    scope.add(f"{function}({', '.join(names)})")
