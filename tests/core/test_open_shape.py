"""Shapes that hold symbolic sizes."""

from collections import namedtuple

import pytest

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.open_shape import (
    as_unknown,
    bind_shape,
    broadcast_shapes,
    has_dims,
    hide_dims,
    is_same_shape,
    show_shape,
    substitute,
    unknowns_in,
)
from gradtape.core.size_context import SizeContext

Pair = namedtuple("Pair", "a b")


class Window:
    """An object that holds sizes."""

    def __init__(self, size):
        self.size = size

    def has_dims(self):
        return has_dims(self.size)

    def substitute_dims(self, env):
        return Window(substitute(self.size, env))

    def unknowns_in_dims(self):
        return unknowns_in(self.size)


@pytest.fixture
def context():
    return SizeContext(with_hints=False)


@pytest.fixture
def n(context):
    return context.make_unknown("n")


def test_shapes_of_different_ranks_or_known_sizes_record_nothing(context, n):
    assert not is_same_shape((8,), (n, 5))
    assert not is_same_shape((n, 4), (3, 5))
    assert is_same_shape((n, 4), (n, 4))
    assert not context.assumptions
    assert not is_same_shape((n, 4), (3, 4))
    assert len(context.assumptions) == 1


def test_shapes_broadcast(n):
    assert broadcast_shapes((n, 1), (4,)) == (n, 4)
    assert broadcast_shapes((n, 3)) == (n, 3)
    assert broadcast_shapes((), (n,), (1, 1)) == (1, n)
    assert broadcast_shapes((2, n), (5,)) == (2, 5)
    with pytest.raises(InvalidArgumentError, match=r"Received \[\?,3\] and \[4\]"):
        broadcast_shapes((n, 3), (4,))


def test_users_see_none(n):
    assert hide_dims((n, 3, n + 1)) == (None, 3, None)
    assert show_shape((n, 3)) == "[?,3]"


def test_values_are_searched_and_substituted(context, n):
    env = {context.unknowns[0]: 4}
    value = (1, [n + 1, None], slice(0, n), Pair(n, "a"), Window((2 * n,)))
    assert has_dims(value)
    assert unknowns_in(value) == set(context.unknowns)
    got = substitute(value, env)
    assert got[:4] == (1, [5, None], slice(0, 4), Pair(4, "a"))
    assert got[4].size == (8,)
    assert not has_dims(got)
    assert not unknowns_in(got)
    assert not has_dims((1, "a", None, True, slice(3), 2.5))


def test_sizes_of_a_call_bind_unknowns(context, n):
    (u,) = context.unknowns
    env = {}
    assert bind_shape((n, 3), (7, 3), env)
    assert env == {u: 7}
    assert not bind_shape((n,), (8,), dict(env))
    assert bind_shape((n + 1,), (8,), env)
    assert not bind_shape((n, 3), (7, 4), {})
    assert not bind_shape((n, 3), (7,), {})
    assert bind_shape((n + 1,), (8,), {})
    assert not context.assumptions


def test_an_expression_is_not_an_unknown(context, n):
    assert as_unknown(n) is context.unknowns[0]
    assert [as_unknown(size) for size in (3, n + 1, 2 * n, n * n, n // 2)] == [None] * 5
