"""Decisions about unknown sizes: hints, generic answers, assumptions and attempts."""

import pytest

from gradtape.core.dims import UnknownSizeError
from gradtape.core.size_context import SizeContext


def shown(context):
    return [str(a) for a in context.assumptions.values()]


def make_hinted(**sizes):
    context = SizeContext(with_hints=True)
    return context, *[context.make_unknown(name, hint=size) for name, size in sizes.items()]


def make_generic(*names):
    context = SizeContext(with_hints=False)
    return context, *[context.make_unknown(name) for name in names]


def test_hints_answer_comparisons_and_the_answers_are_recorded():
    context, n, m = make_hinted(n=7, m=3)
    assert n > m
    assert n != 5
    assert m == 3
    assert shown(context) == ["n >= m + 1", "n != 5", "m == 3"]


def test_other_sizes_hold_if_they_satisfy_the_assumptions():
    context, n, m = make_hinted(n=7, m=3)
    assert n > m
    assert n % 2 == 1
    u, v = context.unknowns
    assert context.holds({u: 9, v: 2})
    assert not context.holds({u: 8, v: 2})
    assert str(context.find_violation({u: 8, v: 2})) == "(n % 2) == 1"
    assert str(context.find_violation({u: 1, v: 2})) == "n >= m + 1"


def test_generic_sizes_are_large_and_have_nothing_in_common():
    context, n, m = make_generic("n", "m")
    assert n != m
    assert n > 100
    assert n % 2
    assert n != 1
    assert shown(context) == ["n != m", "n >= 101", "(n % 2) != 0"]


def test_the_same_question_has_the_same_answer_and_one_record():
    context, n, m = make_generic("n", "m")
    assert n != m
    assert 2 * m + 1 != 2 * n + 1
    assert m != n
    assert shown(context) == ["n != m"]


def test_what_follows_from_assumptions_is_not_recorded():
    context, n, m = make_hinted(n=7, m=7)
    assert n == m
    assert n * 2 == m + n
    assert n >= 3
    assert n != 0
    assert m > 1
    assert int(n) == 7
    assert m < 10
    assert shown(context) == ["n == m", "n >= 3", "n == 7"]


def test_bounds_follow_from_inequalities():
    context, n = make_generic("n")
    assert n != 0
    assert n > 0
    assert n != 1
    assert n >= 2
    assert not n < 2
    assert n <= 5000
    assert n < 9000
    assert shown(context) == ["n != 0", "n != 1", "n < 5001"]


def test_an_exact_quotient_multiplies_out():
    context, n, m = make_hinted(n=8, m=3)
    assert n % 4 == 0
    assert 4 * (n // 4) == n
    assert m * 4 * (n // 4) == n * m
    assert shown(context) == ["(n % 4) == 0"]


def test_assumed_equalities_decide():
    context, n, m = make_generic("n", "m")
    assert context.assume_equal(n, 5)
    assert int(n + 1) == 6
    assert n < 6
    assert context.assume_equal(n, m)
    assert int(m) == 5
    assert not context.assume_equal(m, 4)
    assert not context.assume_equal(3, 4 + 0 * n)


def test_hints_decide_whether_sizes_can_be_assumed_equal():
    context, n, m = make_hinted(n=7, m=3)
    assert not context.assume_equal(n, m)
    assert context.assume_equal(n, 7)
    assert shown(context) == ["n != m", "n == 7"]


def test_a_frozen_context_decides_only_what_is_known():
    context, n, m = make_hinted(n=7, m=3)
    assert n != m
    context.freeze()
    assert context.hints is None
    assert n != m
    assert n + 1 > n
    with pytest.raises(UnknownSizeError):
        n.__index__()
    with pytest.raises(UnknownSizeError, match="after the end of its trace"):
        bool(n < m)
    assert shown(context) == ["n != m"]


def test_assumptions_about_data_are_listed():
    context, n = make_hinted(n=7)
    found = context.make_unknown("found", hint=2, from_data=True)
    assert found < n
    assert n != 5
    assert [str(a) for a in context.assumptions_about_data()] == ["n >= found + 1"]
    assert context.holds({context.unknowns[0]: 9})


def test_a_failed_attempt_leaves_nothing_behind():
    context, n = make_generic("n")
    assert n != 3

    def fail(made):
        with context.attempt() as new:
            made.append(new)
            assert n != 5
            assert n != 0
            raise RuntimeError

    made = []
    with pytest.raises(RuntimeError):
        fail(made)
    assert [str(a) for a in made[0]] == ["n != 5", "n != 0"]
    assert shown(context) == ["n != 3"]
    assert n != 0
    assert shown(context) == ["n != 3", "n != 0"]


def test_an_attempt_answers_as_told():
    context, n = make_generic("n")
    with context.attempt([False, True]) as made:
        assert n != 4
        assert n == 5
    assert [str(a) for a in made] == ["n != 4", "n == 5"]
    assert int(n) == 5


def test_assumptions_that_a_size_is_not_zero_are_recognised():
    context, n, m = make_generic("n", "m")
    assert n
    assert n * m != 0
    assert n % 2 != 0
    assert n != m
    assert n != 5
    zeros = [str(a) for a in context.assumptions.values() if a.would_be_zero()]
    assert zeros == ["n != 0", "n*m != 0"]


def test_an_inequality_is_reduced_to_its_simplest_form():
    context, n = make_generic("n")
    assert not 4 * n + 2 < 11
    assert not 2 * n < 5
    assert not n < 3
    assert shown(context) == ["n >= 3"]
