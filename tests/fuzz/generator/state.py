"""Statements that assign and read variables, and variables themselves."""

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.source import Statement
from tests.fuzz.generator.values import FLOATS, draw_array, draw_shape, render_tensor

VARIABLE_DTYPES = ("float32", "float32", "float32", "float64", "int32", "bool", "complex64")


def draw_variable(scope: Scope) -> None:
    """A variable in the setup of the program."""
    draw, setting = scope.draw, scope.setting
    dtype = draw.choice(VARIABLE_DTYPES)
    shape = draw_shape(draw, setting.sizes, 2)
    name = scope.make_name("w")
    text = f"{name} = tf.Variable({render_tensor(draw_array(draw, dtype, shape), dtype)})"
    exec(text, scope.env)
    setting.setup.append(Statement(name, text))
    setting.states.append(name)


def pick_variable(scope: Scope, dtypes=None, rows=False) -> str:
    """A variable; with `rows` it has at least one row."""
    found = []
    for name in [*scope.setting.states, *scope.setting.passed]:
        value = scope.env.get(name)
        if name[0] != "w" or value is None:
            continue
        if rows and not (len(value.shape) and value.shape[0]):
            continue
        if dtypes is None or value.dtype.name in dtypes:
            found.append(name)
    if not found:
        raise Unfit
    return scope.draw.choice(found)


def check_assignable(scope: Scope, name: str) -> None:
    """Raise `Unfit` if the assignment would be one whose gradient is not to be drawn."""
    setting = scope.setting
    if scope.env[name].dtype.name not in ("int32", "bool"):
        in_node = scope.in_node and setting.order > 0
        if in_node and "assigned_in_nodes" not in setting.features:
            raise Unfit
        if setting.order > 1 and "second_order_of_assigned" not in setting.features:
            raise Unfit
    setting.traits.add("assigns")


def draw_read(scope: Scope) -> None:
    """The value of a variable, read in several ways."""
    name = pick_variable(scope)
    value = scope.env[name]
    choices = [f"tf.identity({name})", f"{name}.read_value()", f"tf.convert_to_tensor({name})"]
    if value.dtype.name in (*FLOATS, "int32", "complex64"):
        choices += [f"{name} * 2", f"{name} + {name}", f"tf.reduce_sum({name})"]
    if len(value.shape) and value.shape[0]:
        row = scope.draw.randrange(value.shape[0])
        choices += [f"{name}[{row}]", f"{name}[{row}:]"]
        if (
            scope.dtype(name) in ("int32", "bool")
            or "sparse_second_order" in scope.setting.features
        ):
            choices += [f"tf.gather({name}, [{row}, {row}])", f"{name}.sparse_read([{row}])"]
            choices.append(f"tf.nn.embedding_lookup({name}, [{row}])")
    scope.add(scope.draw.choice(choices))


def draw_assignment(scope: Scope) -> None:
    """`assign`, `assign_add` or `assign_sub`."""
    name = pick_variable(scope)
    check_assignable(scope, name)
    value = scope.env[name]
    dtype, shape = value.dtype.name, tuple(value.shape)
    new = scope.fit(scope.pick(), dtype, shape)
    op = "assign" if dtype == "bool" else scope.draw.choice(["assign", "assign_add", "assign_sub"])
    if dtype not in ("bool", "int32"):
        new = f"0.1 * {new}" if op != "assign" else f"0.5 * {name} + 0.1 * {new}"
    call = f"{name}.{op}({new})"
    if scope.draw.random() < 0.3:
        scope.add(f"tf.identity({call})")
    else:
        scope.append(Statement("", call))


def draw_sparse_assignment(scope: Scope) -> None:
    """Rows of a variable, by `scatter_*`, `scatter_nd_*` or a slice."""
    name = pick_variable(scope, (*FLOATS, "int32"), rows=True)
    check_assignable(scope, name)
    value, draw = scope.env[name], scope.draw
    rows, *rest = value.shape
    dtype = value.dtype.name
    count = draw.randint(1, 2)
    indices = draw.sample(range(rows), min(count, rows))
    one = scope.fit(scope.pick(), dtype, (len(indices), *rest))
    if dtype != "int32":
        one = f"0.1 * {one}"
    op = draw.choice(["add", "sub", "update", "max", "min"])
    calls = [f"{name}.scatter_{op}(tf.IndexedSlices({one}, tf.constant({indices})))"]
    if op in ("add", "sub", "update"):
        calls.append(f"{name}.scatter_nd_{op}({[[i] for i in indices]}, {one})")
    row = draw.choice(indices)
    calls.append(f"{name}[{row}].assign(({one})[0])")
    scope.append(Statement("", draw.choice(calls)))
