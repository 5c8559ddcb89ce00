"""Statements with datasets: made of tensors, transformed by random functions, read to the end."""

import re

from tests.fuzz.generator.scope import Scope, Unfit
from tests.fuzz.generator.source import Block, Statement

SIMPLE = [
    *("batch(2)", "batch(2, drop_remainder=True)", "batch(3)", "take(2)", "skip(1)", "repeat(2)"),
    "prefetch(1)",
    *("cache()", "shard(2, 0)", "shard(2, 1)", "window(2).flat_map(lambda e: e.batch(2))"),
    *("enumerate().map(lambda i, e: e)", "unbatch()", "rebatch(2)", "take_while(lambda e: True)"),
    "apply(lambda d: d.concatenate(d.take(1)))",
    *("shuffle(3, seed=4)", "shuffle(10, seed=1, reshuffle_each_iteration=False)"),
]


class Chain:
    """Methods of a dataset, and an element of it."""

    def __init__(self, scope: Scope, source: str) -> None:
        has_feature = "variables_in_datasets" in scope.setting.features
        self.scope = scope
        self.around = Scope(scope.setting, scope)
        if "compiled" in scope.setting.traits and not has_feature:
            self.around.hide_variables()
        self.around.depth = scope.depth
        self.around.has_streams = False
        self.text = f"tf.data.Dataset.from_tensor_slices({source})"
        self.blocks: list[Block] = []
        self.lead = ""
        self.dataset = eval(self.text, scope.env)

    def element(self):
        """The first element."""
        found = next(iter(self.dataset), None)
        if not isinstance(found, self.scope.env["tf"].Tensor):
            raise Unfit
        return found

    def extend(self, call: str, block: Block | None = None, header: str = "") -> None:
        """Append a method; `header` is the line that defines its function."""
        lead, blocks = self.lead, self.blocks
        if block is not None:
            lead = f"{lead}{header}\n    <{len(blocks)}>\n"
            blocks = [*blocks, block]
        env = dict(self.scope.env)
        text = f"{self.text}.{call}"
        lines = Statement("", f"{lead}d0 = {text}", blocks).render()
        try:
            exec("\n".join(lines), env)
            next(iter(env["d0"]), None)
        except Exception:
            raise Unfit from None
        self.text, self.lead, self.blocks, self.dataset = text, lead, blocks, env["d0"]

    def draw_step(self) -> None:
        """One more transformation."""
        scope, draw = self.scope, self.scope.draw
        kind = draw.choice(["simple", "simple", "map", "map", "filter", "scan", "map_batch"])
        if kind == "simple":
            self.extend(draw.choice(SIMPLE))
            return
        element = self.element()
        dtype, shape = element.dtype.name, tuple(element.shape)
        name, function = scope.make_name("a"), scope.make_name("b")
        if kind == "scan":
            state = scope.make_name("a")
            inner = self.around.draw_block({state: element, name: element}, draw.randint(1, 2))
            ending = f"return {inner.result(dtype, shape)}, {inner.result(dtype, shape)}"
            call = f"scan({scope.constant(dtype, shape)}, {function})"
            self.extend(call, inner.close(ending), f"def {function}({state}, {name}):")
            return
        inner = self.around.draw_block({name: element}, draw.randint(1, 3))
        header = f"def {function}({name}):"
        if kind == "filter":
            self.extend(
                f"filter({function})", inner.close(f"return {inner.draw_condition()}"), header
            )
            return
        block = inner.close(f"return {inner.result(dtype, shape)}")
        parallel = draw.choice(["", "", ", num_parallel_calls=2"])
        if re.search(r"assign|scatter_|\bg\d|\bh\d", "\n".join(block.render(""))):
            parallel = ""  # threads would race for the state
        tail = ".batch(2)" if kind == "map_batch" else ""
        self.extend(f"map({function}{parallel}){tail}", block, header)


def draw_dataset(scope: Scope) -> None:
    """A dataset of rows, read to its end, in a loop or by `reduce`."""
    if scope.depth:
        raise Unfit
    name = scope.pick_ranked(1, filled=True)
    chain = Chain(scope, name)
    for _ in range(scope.draw.randint(1, 4)):
        try:
            chain.draw_step()
        except Unfit:
            continue
    scope.setting.traits.add("data")
    read_dataset(scope, chain)


def read_dataset(scope: Scope, chain: Chain) -> None:
    """Read the elements: as a list, in a loop, or by `reduce`."""
    element = chain.element()
    dtype = element.dtype.name
    how = scope.draw.choice(["list", "for", "reduce"])
    if how == "list" and "compiled" in scope.setting.traits:
        how = "for"
    if how == "list":
        scope.add(f"[tf.identity(e) for e in {chain.text}]", chain.blocks, chain.lead)
        return
    count, total = scope.make_name("a"), scope.make_name("a")
    text = f"tf.strings.length({count})" if dtype == "string" else f"tf.cast({count}, 'float64')"
    if dtype.startswith("complex"):
        text = f"tf.cast(tf.abs({count}), 'float64')"
    part = f"tf.cast(tf.reduce_sum({text}), 'float64')"
    if how == "reduce":
        step = f"lambda {total}, {count}: 0.5 * {total} + tf.sin({part})"
        scope.add(
            f"{chain.text}.reduce(tf.constant(0.0, 'float64'), {step})", chain.blocks, chain.lead
        )
        return
    lead = f"{total} = tf.constant(0.0, 'float64')\nfor {count} in {chain.text}:\n"
    lead += f"    {total} = 0.5 * {total} + tf.sin({part})\n"
    scope.add(f"1 * {total}", chain.blocks, chain.lead + lead)
