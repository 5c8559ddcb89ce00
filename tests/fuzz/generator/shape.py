"""Statements that change shapes, pick, gather and scatter elements."""

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.values import FLOATS, INEXACT, INTEGERS, NUMBERS


def draw_reshape(scope: Scope) -> None:
    """Another shape with the same elements."""
    name = scope.pick()
    shape, draw = scope.shape(name), scope.draw
    if 0 in shape and "empty_reshape" not in scope.setting.features:
        raise Unfit
    choices = [f"tf.reshape({name}, [-1])", f"tf.reshape({name}, [1, -1])"]
    choices.append(f"tf.reshape({name}, tf.shape({name})[::-1])")
    if len(shape) > 1:
        choices.append(f"tf.reshape({name}, [{shape[0]}, -1])")
        choices.append(f"tf.reshape({name}, [-1, tf.shape({name})[-1]])")
    choices.append(f"tf.reshape({name}, {list(reversed(shape))})")
    scope.add(draw.choice(choices))


def draw_transpose(scope: Scope) -> None:
    """Axes in another order."""
    name = scope.pick_ranked(1)
    if scope.draw.random() < 0.4:
        scope.add(f"tf.transpose({name})")
        return
    order = scope.draw.sample(range(scope.rank(name)), scope.rank(name))
    scope.add(f"tf.transpose({name}, {order})")


def draw_axis_change(scope: Scope) -> None:
    """One axis more or less, or in another order."""
    name = scope.pick()
    rank, draw = scope.rank(name), scope.draw
    choices = [f"tf.expand_dims({name}, {draw.randint(-rank - 1, rank)})", f"{name}[None]"]
    choices += [f"{name}[..., tf.newaxis]", f"tf.squeeze({name})", f"tf.stack([{name}, {name}])"]
    if rank:
        axis = scope.axis(name)
        choices += [
            f"tf.reverse({name}, [{axis}])",
            f"tf.roll({name}, {draw.randint(-3, 3)}, {axis})",
            f"tf.repeat({name}, {draw.randint(1, 2)}, axis={axis})",
            f"tf.concat([{name}, {name}], {axis})",
            f"tf.stack([{name}, {scope.partner(name)}], {axis})",
            f"tf.concat([{name}, {scope.partner(name)}], {axis})",
            f"tf.tile({name}, {[draw.randint(0, 2) for _ in range(rank)]})",
            f"tf.split({name}, [1, -1], {axis})[{draw.randint(0, 1)}]",
            f"tf.unstack({name}, axis={axis})[-1]",
        ]
    if scope.dtype(name) in NUMBERS:
        pads = [[draw.randint(0, 2), draw.randint(0, 1)] for _ in range(rank)]
        choices.append(f"tf.pad({name}, {pads})" if rank else f"tf.fill([2, 3], {name})")
        if rank:
            choices.append(f"tf.pad({name}, {[[1, 0]] * rank}, 'REFLECT')")
    scope.add(draw.choice(choices))


def draw_broadcast(scope: Scope) -> None:
    """Broadcasting to a larger shape."""
    name = scope.pick()
    shape = [scope.draw.choice(scope.setting.sizes), *scope.shape(name)]
    scope.add(f"tf.broadcast_to({name}, {shape})")


def draw_index(scope: Scope) -> None:
    """Basic indexing: integers, slices, an ellipsis, a new axis."""
    name = scope.pick_ranked(1)
    parts = [draw_subscript(scope, size) for size in scope.shape(name)]
    parts = parts[: scope.draw.randint(1, len(parts))]
    if scope.draw.random() < 0.2:
        parts.insert(0, "None")
    elif scope.draw.random() < 0.2:
        parts = ["...", *parts[-1:]]
    scope.add(f"{name}[{', '.join(parts)}]")


def draw_subscript(scope: Scope, size: int) -> str:
    """A subscript of one axis."""
    draw = scope.draw
    kind = draw.random()
    if kind < 0.3 and size:
        return str(draw.randrange(-size, size))
    if kind < 0.4:
        scalars = [n for n in scope.names if scope.dtype(n) == "int32" and not scope.shape(n)]
        if scalars and size:
            return f"{draw.choice(scalars)} % {size}"
    start, stop = (draw.choice(["", str(draw.randint(-size, size))]) for _ in range(2))
    return f"{start}:{stop}" + draw.choice(["", "", ":2", ":-1"])


def source_of_rows(scope: Scope, name: str) -> str:
    """`name`, or a product where the second derivative of a gather is not to be drawn."""
    if scope.dtype(name) not in INEXACT or "sparse_second_order" in scope.setting.features:
        return name
    return f"(1 * {name})"


def draw_gather(scope: Scope) -> None:
    """Rows, elements and masked elements."""
    name = scope.pick_ranked(1, filled=True)
    shape, draw = scope.shape(name), scope.draw
    rows = source_of_rows(scope, name)
    axis = draw.randrange(len(shape))
    indices = [draw.randrange(shape[axis]) for _ in range(draw.choice([0, 1, 2, 3]))]
    if draw.random() < 0.03:
        indices.append(shape[axis])  # out of range
    index = f"tf.constant({indices}, 'int32')"
    integers = [n for n in scope.names if scope.dtype(n) in ("int32", "int64")]
    if integers and draw.random() < 0.5:
        index = f"{draw.choice(integers)} % {shape[axis]}"
    choices = [f"tf.gather({rows}, {index}, axis={axis})"] * 4
    points = [[draw.randrange(n) for n in shape] for _ in range(2)]
    choices.append(f"tf.gather_nd({rows}, {points})")
    choices.append(f"tf.gather_nd({rows}, {[[p[0]] for p in points]})")
    if scope.dtype(name) in FLOATS:
        choices.append(f"tf.boolean_mask({rows}, {rows} > 0)")
        choices.append(f"{rows}[{rows} > 0.1]")
    if len(shape) > 1:
        batched = [[draw.randrange(shape[1])] * 2 for _ in range(shape[0])]
        choices.append(f"tf.gather({rows}, {batched}, batch_dims=1, axis=1)")
    if scope.dtype(name) in (*FLOATS, *INTEGERS):
        choices.append(f"tf.nn.embedding_lookup({rows}, {[draw.randrange(shape[0])]})")
    scope.add(draw.choice(choices))


def draw_scatter(scope: Scope) -> None:
    """Rows added to, or put into, a tensor."""
    name = scope.pick_ranked(1, (*FLOATS, "int32", "int64", "complex64"), filled=True)
    (rows, *rest), draw = scope.shape(name), scope.draw
    count = draw.randint(1, 3)
    op = draw.choice(["add", "sub", "update", "max", "min"])
    distinct = op == "update"
    if distinct:
        count = min(count, rows)
        indices = [[i] for i in draw.sample(range(rows), count)]
    else:
        indices = [[draw.randrange(rows)] for _ in range(count)]
    updates = scope.constant(scope.dtype(name), (count, *rest))
    if scope.dtype(name).startswith("complex"):
        op = "add"
    choices = [f"tf.tensor_scatter_nd_{op}({name}, {indices}, {updates} * {name}[0])"] * 3
    choices.append(f"tf.scatter_nd({indices}, {updates} + {name}[-1], {[rows, *rest]})")
    if rows == 1 and count == 1:
        choices.append(f"tf.dynamic_stitch([[0], [1]], [{name}, {updates}])")
    scope.add(draw.choice(choices))


def draw_partition(scope: Scope) -> None:
    """Rows split by a partition, and put together again."""
    name = scope.pick_ranked(1, (*FLOATS, "int32"), filled=True)
    rows, draw = scope.shape(name)[0], scope.draw
    parts = [draw.randint(0, 1) for _ in range(min(rows, 8))]
    text = f"tf.dynamic_partition({name}[:8], {parts}, 2)"
    if draw.random() < 0.5:
        scope.add(f"{text}[{draw.randint(0, 1)}]")
        return
    places = f"tf.dynamic_partition(tf.range({len(parts)}), {parts}, 2)"
    scope.add(f"tf.dynamic_stitch({places}, {text})")


def draw_shape_value(scope: Scope) -> None:
    """A shape, size or rank as a tensor, or a tensor made of sizes."""
    name = scope.pick()
    text = scope.draw.choice(
        [
            f"tf.shape({name})",
            f"tf.size({name})",
            f"tf.rank({name})",
            f"tf.range(tf.size({name}))[:9]",
            f"tf.zeros(tf.shape({name}))",
            f"tf.ones({name}.shape)",
            f"tf.eye({scope.draw.randint(0, 3)})",
            f"tf.linspace(0.0, 1.0, {scope.draw.randint(1, 4)})",
            f"tf.fill(tf.shape({name}), 2)",
        ]
    )
    scope.add(text)
