"""The backward pass: which rules run, and the cotangents they give."""

import numpy as np
import pytest

import gradtape  # noqa: F401  (gives tensors their operators)
from gradtape.core.context import use_recorders
from gradtape.core.dispatch import TapeRecord
from gradtape.core.primitive import REGISTRY, elementwise, primitive
from gradtape.core.tensor import Tensor, make_tensor, unwrap
from gradtape.ops.elementwise import add, exp, multiply, sin
from gradtape.ops.gather_scatter import gather
from gradtape.ops.shape import concat
from gradtape.tape.backward import SOURCES, backward_pass
from gradtape.tape.indexed_slices import SparseCotangent


@pytest.fixture(autouse=True)
def restore_registry():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def vector(*values):
    return make_tensor(np.array(values, "float64"))


def watching(*tensors):
    record = TapeRecord()
    for t in tensors:
        record.watch(t.uid)
    return record


def gradients(record, target, sources, recorded=False, release=False):
    """Gradients of the sum of `target`, as lists."""
    seed = np.ones_like(target._array)
    grads = {
        SOURCES: frozenset(s.uid for s in sources),
        target.uid: make_tensor(seed) if recorded else seed,
    }
    found = backward_pass(record, grads, recorded, release)
    return [None if s.uid not in found else unwrap(found[s.uid]).tolist() for s in sources]


def counting(calls):
    """Make a product that appends the names of the rules that run to `calls`."""

    def wrt(name):
        def note(g, other):
            calls.append(name)
            return g * other

        return note

    wrt_a, wrt_b = wrt("a"), wrt("b")

    @elementwise(a=lambda g, b: wrt_a(g, b), b=lambda g, a: wrt_b(g, a))
    def product(a, b):
        return a * b

    return product


forms = pytest.mark.parametrize(
    ("recorded", "release"), [(False, False), (False, True), (True, False), (True, True)]
)


@forms
def test_all_watched_tensors_as_sources(recorded, release):
    x, y = vector(2), vector(3)
    record = watching(x, y)
    with use_recorders((record,)):
        z = multiply(x, sin(y))
    dx, dy = gradients(record, z, [x, y], recorded, release)
    np.testing.assert_allclose(dx, np.sin([3]))
    np.testing.assert_allclose(dy, 2 * np.cos([3]))


def test_a_source_used_many_times_accumulates():
    record = watching(x := vector(2))
    with use_recorders((record,)):
        z = add(multiply(x, x), add(x, x))
    assert gradients(record, z, [x]) == [[6]]


def test_an_unconnected_source_is_absent():
    record = watching(x := vector(2), y := vector(3))
    with use_recorders((record,)):
        z = multiply(x, x)
        exp(y)
    assert gradients(record, z, [x, y]) == [[4], None]
    assert gradients(record, z, [y]) == [None]


def test_a_target_may_be_a_source():
    record = watching(x := vector(2))
    with use_recorders((record,)):
        y = multiply(x, x)
    assert gradients(record, x, [x]) == [[1]]
    assert gradients(record, y, [y, x]) == [[1], [4]]


@forms
@pytest.mark.parametrize("wanted", [0, 1])
def test_only_rules_that_lead_to_a_source_run(wanted, recorded, release):
    product = counting(calls := [])
    x, y = vector(2), vector(3)
    record = watching(x, y)
    with use_recorders((record,)):
        z = product(x, y)
    assert gradients(record, z, [(x, y)[wanted]], recorded, release) == [[(3, 2)[wanted]]]
    assert calls == ["ab"[wanted]]


def test_a_branch_without_a_source_is_skipped():
    product = counting(calls := [])
    x, y = vector(2), vector(3)
    record = watching(x, y)
    with use_recorders((record,)):
        z = add(x, product(product(y, y), y))
    assert gradients(record, z, [x]) == [[1]]
    assert not calls


def test_narrow_steps_unbroadcast_cotangents():
    x, y = make_tensor(np.ones((2, 3))), make_tensor(np.ones((3,)))
    record = watching(x, y)
    with use_recorders((record,)):
        z = multiply(x, y)
    assert gradients(record, z, [y]) == [[2, 2, 2]]
    assert gradients(record, z, [x]) == [[[1, 1, 1], [1, 1, 1]]]


@forms
def test_intermediate_sources(recorded, release):
    record = watching(x := vector(2))
    with use_recorders((record,)):
        y = multiply(x, x)
        z = multiply(y, y)
    assert gradients(record, z, [x, y], recorded, release) == [[32], [8]]


def test_the_pass_stops_at_an_intermediate_source():
    product = counting(calls := [])
    record = watching(x := vector(2))
    with use_recorders((record,)):
        y = product(x, x)
        z = multiply(y, y)
    assert gradients(record, z, [y]) == [[8]]
    assert not calls


@forms
def test_unused_outputs_have_zero_cotangents(recorded, release):
    @primitive(outputs=True, x=lambda g: g[0] + 2 * g[1] + 3 * g[2])
    def multiples(x):
        return +x, 2 * x, 3 * x

    for used, slope in enumerate((1, 2, 3)):
        record = watching(x := vector(5))
        with use_recorders((record,)):
            z = multiply(multiples(x)[used], vector(10))
        assert gradients(record, z, [x], recorded, release) == [[10 * slope]]


def test_outputs_used_several_times_accumulate():
    @primitive(outputs=True, x=lambda g: g[0] + 2 * g[1])
    def once_and_twice(x):
        return +x, 2 * x

    record = watching(x := vector(5))
    with use_recorders((record,)):
        a, b = once_and_twice(x)
        z = add(add(a, a), multiply(b, b))
    assert gradients(record, z, [x]) == [[2 + 2 * 2 * 10]]


def test_one_output_as_a_source():
    @primitive(outputs=True, x=lambda g: g[0] + 2 * g[1])
    def once_and_twice(x):
        return +x, 2 * x

    record = watching(x := vector(5))
    with use_recorders((record,)):
        a, b = once_and_twice(x)
        z = multiply(a, b)
    assert gradients(record, z, [b, x]) == [[5], [20]]


@forms
def test_variadic_ops_pull_back_to_the_watched_positions(recorded, release):
    xs = [vector(i, i) for i in range(4)]
    record = watching(xs[1], xs[3])
    with use_recorders((record,)):
        z = multiply(concat(*xs, axis=-1), make_tensor(np.arange(8.0)))
    assert gradients(record, z, [xs[1], xs[3]], recorded, release) == [[2, 3], [6, 7]]


@forms
def test_variadic_ops_pull_back_to_the_wanted_positions(recorded, release):
    xs = [vector(i, i) for i in range(4)]
    record = watching(*xs)
    with use_recorders((record,)):
        z = multiply(concat(*xs, axis=-1), make_tensor(np.arange(8.0)))
    assert gradients(record, z, [xs[2]], recorded, release) == [[4, 5]]


def test_the_same_tensor_at_several_positions():
    record = watching(x := vector(1, 1))
    with use_recorders((record,)):
        z = multiply(concat(x, x, axis=-1), make_tensor(np.arange(4.0)))
    assert gradients(record, z, [x]) == [[2, 4]]


def test_a_pass_empties_the_record_only_if_release_is_true():
    for release in (False, True):
        record = watching(x := vector(2))
        with use_recorders((record,)):
            z = exp(exp(x))
        before = dict(record)
        gradients(record, z, [x], release=release)
        assert record == ({} if release else before)


def test_a_record_can_be_differentiated_again():
    record = watching(x := vector(2))
    with use_recorders((record,)):
        y = multiply(x, x)
        z = multiply(y, x)
    assert gradients(record, z, [x]) == gradients(record, z, [x]) == [[12]]
    assert gradients(record, y, [x]) == [[4]]


def test_an_outer_recorder_sees_a_recorded_pass():
    record, outer = watching(x := vector(2)), watching(x)
    with use_recorders((outer, record)):
        y = multiply(multiply(x, x), x)
    grads = {SOURCES: frozenset({x.uid}), y.uid: vector(1)}
    with use_recorders((outer,)):
        first = backward_pass(record, grads, recorded=True, release=True)[x.uid]
    assert isinstance(first, Tensor)
    assert first.numpy() == [12]
    assert gradients(outer, first, [x]) == [[12]]


def test_the_gradient_of_a_lookup_is_sparse_only_for_a_source():
    table = make_tensor(np.ones((4, 2)))
    record = watching(table)
    with use_recorders((record,)):
        rows = gather(table, np.array([1, 1]), axis=-2)
        again = gather(exp(table), np.array([3]), axis=-2)
    seed = np.ones((2, 2))
    direct = backward_pass(record, {SOURCES: frozenset({table.uid}), rows.uid: seed}, False, False)[
        table.uid
    ]
    assert isinstance(direct, SparseCotangent)
    through = backward_pass(
        record, {SOURCES: frozenset({table.uid}), again.uid: seed[:1]}, False, False
    )[table.uid]
    assert isinstance(through, np.ndarray)


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("half", [False, True])
def test_overflow_in_a_backward_pass_does_not_warn(release, half):
    record = watching(x := vector(0), y := vector(0))
    with use_recorders((record,)):
        z = add(multiply(exp(x), make_tensor(np.array([1e300]))), y)
    grads = {SOURCES: frozenset({x.uid} if half else {x.uid, y.uid}), z.uid: np.array([1e300])}
    assert backward_pass(record, grads, False, release)[x.uid] == [np.inf]
