"""Statements with branches, loops and TensorArrays, of TensorFlow and of Python."""

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.source import Block, Statement
from tests.fuzz.generator.values import FLOATS, INEXACT, NUMBERS

NODES = "nodes"  # trait: a gradient may be None eagerly and zeros in a graph


def draw_branch(scope: Scope, like: str, ending: str, node: bool) -> Block:
    """A block whose result has the dtype and shape of `like`."""
    inner = scope.draw_block({}, scope.draw.randint(1, 3), node)
    return inner.close(ending.replace("RESULT", inner.result(scope.dtype(like), scope.shape(like))))


def draw_cond(scope: Scope) -> None:
    """`tf.cond`, `tf.case` and `tf.switch_case`."""
    like, condition = scope.pick(), scope.draw_condition()
    kind = scope.draw.choice(["cond", "cond", "case", "switch_case"])
    blocks = [draw_branch(scope, like, "return RESULT", True) for _ in range(2 + (kind != "cond"))]
    names = [scope.make_name("b") for _ in blocks]
    lead = "".join(f"def {name}():\n    <{i}>\n" for i, name in enumerate(names))
    scope.setting.traits.add(NODES)
    if kind == "cond":
        text = f"tf.cond({condition}, {names[0]}, {names[1]})"
    elif kind == "case":
        pairs = f"[({condition}, {names[0]}), ({scope.draw_condition()}, {names[1]})]"
        text = f"tf.case({pairs}, default={names[2]})"
    else:
        index = f"tf.cast({condition}, 'int32') + tf.cast({scope.draw_condition()}, 'int32')"
        text = f"tf.switch_case({index}, [{', '.join(names)}])"
    scope.add(text, blocks, lead)


def note_python_branches(scope: Scope) -> None:
    """Keep streams of random ops out: behind a branch of Python they are other streams."""
    if "streams" in scope.setting.traits:
        raise Unfit
    scope.setting.traits.add("python branches")


def draw_python_if(scope: Scope) -> None:
    """`if` on a tensor."""
    note_python_branches(scope)
    like, condition = scope.pick(), scope.draw_condition()
    target = scope.make_name()
    blocks = [draw_branch(scope, like, f"{target} = RESULT", False) for _ in range(2)]
    text = f"if {condition}:\n    <0>\nelse:\n    <1>"
    scope.append(Statement(target, text, blocks))


def draw_while_loop(scope: Scope) -> None:
    """`tf.while_loop` with a counter and one or two loop variables."""
    starts = [scope.pick() for _ in range(scope.draw.randint(1, 2))]
    names = [scope.make_name("a") for _ in starts]
    count = scope.make_name("i")
    values = {name: scope.env[start] for name, start in zip(names, starts, strict=True)}
    counter = scope.env["tf"].constant(0)
    inner = scope.draw_block({count: counter, **values}, scope.draw.randint(1, 3), True)
    results = [inner.result(scope.dtype(s), scope.shape(s)) for s in starts]
    block = inner.close(f"return {', '.join([f'{count} + 1', *results])}")
    body, limit = scope.make_name("b"), scope.draw.randint(0, 3)
    arguments = ", ".join([count, *names])
    lead = f"def {body}({arguments}):\n    <0>\n"
    extra = scope.draw.choice(["", "", ", maximum_iterations=2", ", maximum_iterations=4"])
    condition = f"{count} < {limit}"
    numbers = [n for n in names if values[n].dtype.name in FLOATS]
    if numbers and scope.draw.random() < 0.3:
        condition = f"({condition}) & (tf.reduce_sum({numbers[0]}) < 5)"
    given = [scope.copy(start) if scope.setting.order else start for start in starts]
    start = f"[tf.constant(0), {', '.join(given)}]"
    call = f"tf.while_loop(lambda {arguments}: {condition}, {body}, {start}{extra})"
    scope.setting.traits.add(NODES)
    scope.add(f"{call}[{scope.draw.randint(1, len(starts))}]", [block], lead)


def draw_map(scope: Scope) -> None:
    """`tf.map_fn`, `tf.vectorized_map`, `tf.scan`, `tf.foldl` and `tf.foldr` over rows."""
    name = scope.pick_ranked(1, filled=True)
    row = scope.env[name][0]
    kind = scope.draw.choice(["map_fn", "vectorized_map", "scan", "foldl", "foldr"])
    body, element = scope.make_name("b"), scope.make_name("a")
    parameters = {element: row}
    if kind in ("map_fn", "vectorized_map"):
        like = scope.pick() if kind == "map_fn" and scope.draw.random() < 0.3 else None
        inner = scope.draw_block(parameters, scope.draw.randint(1, 3), True)
        dtype, shape = row.dtype.name, tuple(row.shape)
        if like:
            dtype, shape = scope.dtype(like), scope.shape(like)
        lead, given = f"def {body}({element}):\n    <0>\n", ""
        if like:
            given = f", fn_output_signature='{dtype}'"
    else:
        state = scope.make_name("a")
        parameters = {state: row, element: row}
        inner = scope.draw_block(parameters, scope.draw.randint(1, 3), True)
        dtype, shape = row.dtype.name, tuple(row.shape)
        lead, given = f"def {body}({state}, {element}):\n    <0>\n", ""
        if scope.draw.random() < 0.4:
            given = f", initializer={scope.constant(dtype, shape)}"
    block = inner.close(f"return {inner.result(dtype, shape)}")
    scope.setting.traits.add(NODES)
    scope.add(f"tf.{kind}({body}, {name}{given})", [block], lead)


def draw_python_loop(scope: Scope) -> None:
    """`for` over a range, a tensor or its rows, and `while` on a tensor."""
    note_python_branches(scope)
    start = scope.pick(NUMBERS)
    dtype, shape = scope.dtype(start), scope.shape(start)
    target, step = scope.make_name(), scope.make_name("a")
    tf = scope.env["tf"]
    rows = [n for n in scope.names if scope.rank(n) > 0 and 0 < scope.shape(n)[0] < 6]
    kind = scope.draw.choice(["range", "tf.range", "rows", "while"])
    parameters = {step: tf.constant(0)}
    if kind == "rows":
        if not rows:
            raise Unfit
        source = scope.draw.choice(rows)
        parameters = {step: scope.env[source][0]}
        header = f"for {step} in {source}:"
    elif kind == "range":
        parameters = {}
        header = f"for {step} in range({scope.draw.randint(0, 3)}):"
    elif kind == "tf.range":
        header = f"for {step} in tf.range({scope.draw.randint(0, 3)}):"
    else:
        header = f"while {step} < {scope.draw.randint(0, 3)}:"
    parameters[target] = scope.env[start]
    inner = scope.draw_block(parameters, scope.draw.randint(1, 3))
    ending = f"{target} = {inner.result(dtype, shape)}"
    if kind == "while":
        ending += f"\n{step} = {step} + 1"
    elif scope.draw.random() < 0.3 and dtype in FLOATS:
        ending += f"\nif tf.reduce_sum({target}) > 2:\n    break"
    text = f"{target} = {start}\n{header}\n    <0>"
    if kind == "while":
        text = f"{step} = tf.constant(0)\n{text}"
    scope.append(Statement(target, text, [inner.close(ending)]))


def draw_tensor_array(scope: Scope) -> None:
    """A TensorArray, filled by unstacking, by writes or in a `while_loop`."""
    name = scope.pick_ranked(1, filled=True)
    rows, draw = scope.shape(name)[0], scope.draw
    dtype, shape = scope.dtype(name), list(scope.shape(name)[1:])
    if "array_gather" not in scope.setting.features and dtype in INEXACT:
        name = scope.add(f"1 * {name}")
    array = scope.make_name("t")
    options = f"element_shape={shape}, clear_after_read=False"
    made = f"{array} = tf.TensorArray('{dtype}', {rows}, {options})\n"
    kind = draw.choice(["unstack", "writes", "loop", "dynamic"])
    if kind == "unstack":
        lead = f"{made}{array} = {array}.unstack({name})\n"
    elif kind == "writes":
        order = draw.sample(range(rows), rows)
        lead = made + "".join(f"{array} = {array}.write({i}, {name}[{i}])\n" for i in order)
    elif kind == "dynamic":
        step = scope.make_name("i")
        lead = f"{array} = tf.TensorArray('{dtype}', 0, dynamic_size=True, {options})\n"
        lead += f"for {step} in range({rows}):\n"
        lead += f"    {array} = {array}.write({step}, {name}[{step}])\n"
    else:
        step, inner = scope.make_name("i"), scope.make_name("t")
        test = f"lambda {step}, {inner}: {step} < {rows}"
        body = f"lambda {step}, {inner}: ({step} + 1, {inner}.write({step}, {name}[{step}]))"
        start = f"[tf.constant(0), {array}]"
        lead = f"{made}{array} = tf.while_loop({test}, {body}, {start})[1]\n"
        scope.setting.traits.add(NODES)
    reads = [f"{array}.stack()", f"{array}.read({draw.randrange(rows)})"]
    if "array_gather" in scope.setting.features:
        reads.append(f"{array}.gather({[draw.randrange(rows)] * 2})")
    if shape:
        reads.append(f"{array}.concat()")
    scope.add(draw.choice(reads), lead=lead)
