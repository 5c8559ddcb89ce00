"""The scope in which the next statement of a random program is drawn.

Every statement runs as soon as it is drawn, so the scope knows dtypes, shapes and values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import gradtape as tf
from tests.fuzz.generator.source import Block, Statement
from tests.fuzz.generator.values import COMPLEX, FLOATS, draw_array, render_tensor

LARGEST = {"float16": 50.0, "bfloat16": 200.0}
MOST_ELEMENTS = 600
# Ops whose result has a shape that depends on values
DYNAMIC = re.compile(
    r"boolean_mask|unique|where\(v\d+\)|\w\[\(|partition|bincount|filter|mask|\] > "
)


class Unfit(Exception):  # noqa: N818  not an error: another kind of statement is drawn
    """The scope has no operands for a kind of statement, or its result is of no use."""


@dataclass
class Setting:
    """What all scopes of one program share.

    Attributes:
        draw: the source of randomness.
        sizes: sizes of dimensions.
        kinds: functions that draw a statement, with their weights.
        features: names of optional shapes of programs that may be drawn, see `features.py`.
        order: which derivatives the comparison takes.
        is_special: whether infinities and NaN may occur.
        may_raise: whether the last statement may raise an error.
        traits: what the comparison has to know.
        setup: statements outside of the function.
        states: names of variables and generators.
        passed: variables among the arguments, by the names of the parameters.
        functions: names of functions defined in `setup`, with dtypes and shapes of their arguments.
        count: how many names were given out.
    """

    draw: Random
    sizes: list[int]
    kinds: dict[Callable[[Scope], None], float]
    features: frozenset[str] = frozenset()
    order: int = 0
    is_special: bool = False
    may_raise: bool = False
    traits: set[str] = field(default_factory=set)
    setup: list[Statement] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    passed: dict[str, str] = field(default_factory=dict)
    functions: dict[str, list[tuple[str, tuple[int, ...]]]] = field(default_factory=dict)
    count: int = 0


def is_tensor(value: Any) -> bool:
    """Whether a value is a plain tensor."""
    return isinstance(value, tf.Tensor)


class Scope:
    """Names that a statement can use, with their values.

    Attributes:
        env: names and values, also those of outer scopes.
        names: names of tensors, in order of definition.
        own: the names that this block defines.
        depth: how many blocks are around.
        in_node: whether the block is part of a branch or a loop of TensorFlow.
        has_streams: whether random ops may have streams that advance from call to call. Functions
            of datasets restart them, and each call of a function has its own.
        has_raised: whether the last statement raised an error; then the program ends.
    """

    def __init__(self, setting: Setting, outer: Scope | None = None) -> None:
        """An empty block inside of `outer`."""
        self.setting = setting
        self.draw = setting.draw
        self.env: dict[str, Any] = dict(outer.env) if outer else {}
        self.names: list[str] = list(outer.names) if outer else []
        self.own: set[str] = set()
        self.statements: list[Statement] = []
        self.depth: int = outer.depth + 1 if outer else 0
        self.in_node: bool = outer is not None and outer.in_node
        self.has_streams: bool = outer is None or outer.has_streams
        self.has_raised = False

    def make_name(self, letter: str = "v") -> str:
        """A name that occurs nowhere else in the program."""
        self.setting.count += 1
        return f"{letter}{self.setting.count}"

    def define(self, name: str, value: Any) -> None:
        """Make a tensor visible, for example a parameter of the block."""
        self.env[name] = value
        self.own.add(name)
        if is_tensor(value):
            self.names.append(name)

    # -- operands

    def dtype(self, name: str) -> str:
        """Dtype of a name's tensor."""
        return self.env[name].dtype.name

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a name's tensor."""
        return tuple(self.env[name].shape)

    def rank(self, name: str) -> int:
        """Rank of a name's tensor."""
        return len(self.env[name].shape)

    def pick(self, dtypes: Any = None, test: Callable[[Any], bool] | None = None) -> str:
        """A name whose tensor has one of `dtypes` and passes `test`; recent ones are likelier."""
        found = [
            name
            for name in self.names
            if (dtypes is None or self.env[name].dtype.name in dtypes)
            and (test is None or test(self.env[name]))
        ]
        if not found:
            raise Unfit
        if self.draw.random() < 0.5:
            found = found[-3:]
        return self.draw.choice(found)

    def pick_ranked(self, least: int, dtypes: Any = None, filled: bool = False) -> str:
        """A name of at least this rank; with `filled` it has no dimension of size 0."""
        return self.pick(
            dtypes, lambda t: len(t.shape) >= least and not (filled and 0 in tuple(t.shape))
        )

    def partner(self, name: str) -> str:
        """Another operand of the same dtype that broadcasts with `name`: a name or a constant."""
        dtype, shape = self.dtype(name), self.shape(name)
        found = [
            other
            for other in self.names
            if self.dtype(other) == dtype and can_broadcast(shape, self.shape(other))
        ]
        if found and self.draw.random() < 0.75:
            return self.draw.choice(found)
        return self.constant(dtype, self.draw_part_of(shape))

    def draw_part_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with `shape`."""
        kept = shape[self.draw.randint(0, len(shape)) :]
        return tuple(n if self.draw.random() < 0.7 else 1 for n in kept)

    def constant(self, dtype: str, shape: tuple[int, ...]) -> str:
        """Source of a constant with random values."""
        return render_tensor(draw_array(self.draw, dtype, shape), dtype)

    def axis(self, name: str) -> int:
        """An axis of a tensor, counted from either end."""
        rank = self.rank(name)
        if not rank:
            raise Unfit
        return self.draw.randrange(-rank, rank)

    def fit(self, name: str, dtype: str, shape: tuple[int, ...]) -> str:
        """An expression of `name` with this dtype and shape."""
        if self.dtype(name) == dtype and self.shape(name) == shape:
            return name
        text = name
        if self.dtype(name) == "string":
            text = f"tf.strings.length({text})"
        elif self.dtype(name) == "bool":
            text = f"tf.cast({text}, 'int32')"
        text = f"tf.reduce_sum({text})"
        if dtype == "string":
            return f"tf.broadcast_to(tf.strings.as_string({text} == {text}), {list(shape)})"
        if self.dtype(name) in COMPLEX and dtype not in COMPLEX:
            text = f"tf.math.real({text})"
        if dtype in FLOATS or dtype in COMPLEX:
            text = f"tf.tanh(tf.cast({text}, '{dtype}'))"
        elif dtype == "bool":
            text = f"({text} == {text})"
        else:
            text = f"tf.cast({text}, '{dtype}')"
        return f"tf.broadcast_to({text}, {list(shape)})"

    # -- statements

    def add(self, text: str, blocks: list[Block] | None = None, lead: str = "") -> str:
        """Append `name = text` and run it; `lead` are lines in front of it."""
        name = self.make_name()
        statement = Statement(name, f"{lead}{name} = {text}", blocks or [])
        return self.append(statement)

    def append(self, statement: Statement) -> str:
        """Append a statement and run it; its target becomes visible."""
        env = dict(self.env)
        try:
            exec("\n".join(statement.render()), env)
        except AttributeError:
            raise Unfit from None  # for example of a Python number
        except (tf.errors.OpError, ValueError, TypeError, LookupError, NotImplementedError):
            if not self.can_end_with_error():
                raise Unfit from None
            self.has_raised = True
            self.statements.append(statement)
            return statement.target
        if DYNAMIC.search(statement.text):
            self.setting.traits.add("dynamic")
        if statement.target:
            value = env[statement.target]
            self.accept(value, statement)
            self.define(statement.target, value)
        self.statements.append(statement)
        return statement.target

    def can_end_with_error(self) -> bool:
        """Whether an error of the statement may end the program."""
        return self.setting.may_raise and not self.depth and self.draw.random() < 0.3

    def accept(self, value: Any, statement: Statement) -> None:
        """Note the spec of a result; raise `Unfit` if it is too large."""
        if not is_tensor(value):
            return
        dtype, shape = value.dtype.name, tuple(value.shape)
        if np.prod(shape) > MOST_ELEMENTS or len(shape) > 5:
            raise Unfit
        if dtype in FLOATS or dtype in COMPLEX:
            array = np.abs(value.numpy().astype(np.complex128))
            if not np.all(array < LARGEST.get(dtype, 1e3)) and not self.setting.is_special:
                raise Unfit
        statement.spec = (dtype, shape)
        if np.prod(shape) <= 30:
            statement.literal = render_tensor(value.numpy(), dtype)

    def draw_block(self, parameters: dict[str, Any], count: int, node: bool = False) -> Scope:
        """A nested block of at most `count` random statements, not closed yet."""
        if self.depth > 1:
            raise Unfit
        inner = Scope(self.setting, self)
        inner.in_node |= node
        for name, value in parameters.items():
            inner.define(name, value)
        inner.draw_statements(count)
        return inner

    def without_closures(self) -> Scope:
        """An empty scope at the same depth, whose blocks cannot refer to this one's tensors."""
        around = Scope(self.setting)
        around.env = {n: v for n, v in self.env.items() if n in ("tf", "np", "inf", "nan")}
        around.depth = self.depth
        around.in_node, around.has_streams = self.in_node, self.has_streams
        return around

    def hide_variables(self) -> None:
        """Make blocks inside of this one neither read nor assign variables and generators.

        They do not call functions of the setup that do so, either.
        """
        hidden = {*self.setting.states, *self.setting.passed}
        for statement in self.setting.setup:
            if statement.target in self.setting.functions:
                words = set(re.findall(r"\w+", "\n".join(statement.render())))
                hidden |= {statement.target} if words & hidden else set()
        for name in hidden:
            self.env.pop(name, None)

    def draw_statements(self, count: int) -> None:
        """Append `count` random statements; tries that do not fit are dropped."""
        kinds = self.setting.kinds
        for _ in range(count * 4):
            if len(self.statements) >= count or self.has_raised:
                return
            kind = self.draw.choices(list(kinds), list(kinds.values()))[0]
            before = len(self.statements)
            try:
                kind(self)
            except Unfit:
                del self.statements[before:]
                self.forget_undefined()

    def forget_undefined(self) -> None:
        """Forget names of statements that were dropped."""
        defined = {statement.target for statement in self.statements}
        lost = {n for n in self.own if n[0] == "v" and n not in defined}
        self.names = [name for name in self.names if name not in lost]
        self.own -= lost

    def result(self, dtype: str, shape: tuple[int, ...]) -> str:
        """An expression of this dtype and shape, computed in this block if possible."""
        same = [
            name
            for name in self.names
            if name in self.own and self.dtype(name) == dtype and self.shape(name) == shape
        ]
        if same and self.draw.random() < 0.8:
            return self.hand_out(same[-1])
        own = [name for name in self.names if name in self.own]
        if own and self.draw.random() < 0.8:
            return self.fit(own[-1], dtype, shape)
        outer = [n for n in self.names if self.dtype(n) == dtype and self.shape(n) == shape]
        if outer:
            return self.hand_out(self.draw.choice(outer))
        return self.constant(dtype, shape)

    def hand_out(self, name: str) -> str:
        """`name`, or a copy of it where a tensor from outside must not be returned as it is."""
        is_computed = any(statement.target == name for statement in self.statements)
        if is_computed or "outer_results" in self.setting.features:
            return name
        return self.copy(name)

    def copy(self, name: str) -> str:
        """An expression with the value of `name` that is another tensor."""
        dtype = self.dtype(name)
        if dtype == "bool":
            return f"tf.logical_not(tf.logical_not({name}))"
        if dtype == "string":
            return f"tf.strings.join([{name}, ''])"
        return f"1 * {name}"

    def close(self, ending: str) -> Block:
        """The block, ended by this line."""
        return Block(self.statements, ending)

    def draw_condition(self) -> str:
        """Source of a scalar condition that depends on a tensor."""
        name = self.pick((*FLOATS, "int32", "int64", "bool"))
        if self.dtype(name) == "bool":
            return f"tf.reduce_{self.draw.choice(['any', 'all'])}({name})"
        bound = self.draw.choice([0, 0, 1, -1, 2])
        reduction = self.draw.choice(["sum", "max", "min"])
        return f"tf.reduce_{reduction}({name}) {self.draw.choice('<>')} {bound}"


def can_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast."""
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))
