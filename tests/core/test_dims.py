"""Symbolic sizes: normal forms, exact arithmetic, bounds and what pins a size."""

import operator
import random
from copy import copy, deepcopy

import numpy as np
import pytest

from gradtape.core.dims import Dim, UnknownSizeError, interval_of
from gradtape.core.size_context import SizeContext
from gradtape.core.size_function import (
    SizeMismatchError,
    broadcast_sizes,
    evaluate,
    max_size,
    min_size,
)


@pytest.fixture
def context():
    return SizeContext(with_hints=False)


@pytest.fixture
def n(context):
    return context.make_unknown("n")


@pytest.fixture
def m(context):
    return context.make_unknown("m")


def test_sums_and_products_have_a_normal_form(n, m):
    assert (n + n).terms == (2 * n).terms
    assert (n * m + 1).terms == (1 + m * n).terms
    assert ((n + 1) * (n - 1)).terms == (n**2 - 1).terms


def test_a_constant_is_an_int(n):
    assert type(n - n) is int
    assert type(0 * n) is int
    assert type((n + 3) - n) is int


def test_quotients_of_multiples_are_polynomials(n, m):
    assert (2 * n // 2).terms == n.terms
    assert ((4 * n + 6) // 2).terms == (2 * n + 3).terms
    assert ((2 * n + 1) // 2).terms == n.terms
    assert (2 * n + 1) % 2 == 1
    assert ((n * m + 2 * m) // (n + 2)).terms == m.terms
    assert ((2 * n + 1) // 4).terms == (n // 2).terms


def test_equal_expressions_share_atoms_and_hashes(n, m):
    assert ((n + 1) // 2).terms == ((1 + n) // 2).terms
    assert hash((n + 1) // 2) == hash((1 + n) // 2)
    assert max_size(n, m).terms == max_size(m, n).terms
    assert len({n * m, m * n, n + m}) == 2


def test_normal_forms_record_nothing(context, n, m):
    assert 2 * n // 2 == n
    assert n + 1 != n
    assert n + 1 > n
    assert n >= 0
    assert n * m >= 0
    assert n // 2 >= 0
    assert n % 4 < 4
    assert 2 * n != 5
    assert not context.assumptions


def test_numpy_integers_are_numbers(n):
    assert type(np.int64(3) * n) is Dim
    assert (n + np.int32(3)).terms == (n + 3).terms
    assert (np.int64(8) // (n * 0 + 2)) == 4


def test_object_arrays_hold_sizes(n):
    doubled = np.array([n, 3], object) * 2
    assert doubled[0].terms == (2 * n).terms
    assert doubled[1] == 6


def test_a_copy_is_the_size_itself(n):
    assert copy(n) is n
    assert deepcopy([n])[0] is n


def test_maximum_and_minimum_use_bounds(n, m):
    assert max_size(n + 1, n).terms == (n + 1).terms
    assert min_size(n, 0) == 0
    assert max_size(n, 0).terms == n.terms
    assert repr(max_size(n, 3)) == "max(n, 3)"


def test_sizes_broadcast(n, m):
    assert broadcast_sizes(n, 1).terms == n.terms
    assert broadcast_sizes(n, 5) == 5
    assert broadcast_sizes(0, n) == 0
    assert broadcast_sizes(n, n).terms == n.terms
    assert broadcast_sizes(n, m + 2).terms == (m + 2).terms
    assert broadcast_sizes(n, m).terms == broadcast_sizes(m, n).terms
    with pytest.raises(SizeMismatchError):
        broadcast_sizes(2, 3)


def test_sizes_assumed_equal_broadcast_to_either(context, n, m):
    assert context.assume_equal(n, m)
    assert broadcast_sizes(n, m).terms == n.terms


def test_the_repr_reads_as_python(n, m):
    assert repr(2 * n * m - n + 1) == "2*n*m - n + 1"
    assert repr((n + 1) // 2) == "((n + 1) // 2)"
    assert repr(-n) == "-n"


def test_an_index_without_a_hint_is_an_error(n):
    for ask in (operator.index, int, float, range, lambda k: np.zeros((k,)), lambda k: k / 2):
        with pytest.raises(UnknownSizeError, match=r"The size n must be a number"):
            ask(n)


def test_an_index_pins_the_size():
    context = SizeContext(with_hints=True)
    n = context.make_unknown("n", hint=7)
    assert list(range(n)) == list(range(7))
    assert np.zeros((n, 2)).shape == (7, 2)
    assert str(list(context.assumptions.values())) == "[n == 7]"


def test_floats_and_arrays_pin_the_size():
    context = SizeContext(with_hints=True)
    n = context.make_unknown("n", hint=6)
    assert n / 4 == 1.5
    assert n * 0.5 == 3
    assert (np.arange(2.0) + n).tolist() == [6, 7]
    assert len(context.assumptions) == 1


def test_a_size_is_not_equal_to_other_objects(context, n):
    assert n != None  # noqa: E711 - the operator is tested
    assert n != "n"
    assert not context.assumptions


def test_division_by_an_unknown_size_assumes_that_it_is_not_zero(context, n, m):
    assert repr(m // n) == "(m // n)"
    assert str(list(context.assumptions.values())) == "[n != 0]"
    with pytest.raises(ZeroDivisionError):
        n // 0


def test_random_expressions_evaluate_as_integers_do():
    rng = random.Random(0)
    functions = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
    functions += [max_size, min_size]
    for _ in range(300):
        context = SizeContext(with_hints=True)
        pool = [(2, 2), (3, 3)]
        for _ in range(3):
            size = rng.randrange(1, 9)
            pool.append((context.make_unknown(hint=size), size))
        env = dict(context.hints)
        for _ in range(8):
            function, (a, x), (b, y) = rng.choice(functions), rng.choice(pool), rng.choice(pool)
            if y == 0 and function in (operator.floordiv, operator.mod):
                continue
            symbolic, number = function(a, b), function(x, y)
            assert evaluate(symbolic, env) == number
            low, high = interval_of(symbolic)
            assert low is None or low <= number
            assert high is None or high >= number
            pool.append((symbolic, number))
        assert context.holds(env)


def test_random_comparisons_answer_as_integers_do():
    rng = random.Random(1)
    comparisons = [operator.eq, operator.lt, operator.le, operator.gt, operator.ge, operator.ne]
    for _ in range(100):
        context = SizeContext(with_hints=True)
        n, m = (context.make_unknown(hint=rng.randrange(5)) for _ in range(2))
        env = dict(context.hints)
        for _ in range(12):
            a, b, c, k = (rng.randrange(-3, 4) for _ in range(4))
            expression = a * n + b * m + c + rng.choice([0, n * m, n // 2, m % 3])
            compare = rng.choice(comparisons)
            assert compare(expression, k) is compare(evaluate(expression, env), k)
        assert context.holds(env)
