"""Tests of the sweep: a rule with one defect must fail exactly the property for it."""

import operator
from math import prod

import numpy as np
import pytest

from gradtape.core.primitive import REGISTRY, Spec, elementwise, primitive
from gradtape.core.shape_rule import FRESH, keep_shape
from gradtape.core.tensor import Tensor
from gradtape.ops.elementwise import add, cast, gate, less, not_equal, stop_gradient
from gradtape.ops.shape import flip, reshape
from tests.sweep.check import PROPERTIES
from tests.sweep.registry import missing
from tests.sweep.sample import Sample, normal, positive

UNASKED = {"zero_size": "not the point here"}
VECTOR = [Sample((positive(3),), skip=UNASKED)]
PAIR = [Sample((normal(2, 3), normal(2, 3)))]


@pytest.fixture(autouse=True)
def restore_registry():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def failing(function, samples):
    """Names of the properties that fail, without `vmapped`, which fails along with others."""
    found = set()
    for name, holds in PROPERTIES.items():
        if name == "vmapped":
            continue
        try:
            holds(function.op, samples)
        except Exception:
            found.add(name)
    return found


def test_a_right_rule_passes():
    @elementwise(a=lambda g, b: g * b, b=lambda g, a: g * a)
    def product(a, b):
        return a * b

    assert failing(product, PAIR) == set()


def test_new_arrays_finds_a_kernel_that_returns_its_input():
    @primitive(x=lambda g: g, shape=keep_shape, new_arrays=True)
    def same(x):
        return x[...]

    assert failing(same, VECTOR) == {"new_arrays"}


def test_first_order_finds_a_wrong_factor():
    @primitive(x=lambda g, x: g * (x + x + x), shape=keep_shape)
    def squared(x):
        return x * x

    assert failing(squared, VECTOR) == {"first_order"}


def test_second_order_finds_a_rule_that_cannot_be_differentiated():
    @primitive(x=lambda g, x: g * 2 * stop_gradient(x), shape=keep_shape)
    def squared(x):
        return x * x

    assert failing(squared, VECTOR) == {"second_order"}


def test_batched_finds_an_axis_counted_from_the_left():
    @primitive(x=lambda g: flip(g, axes=(0,)), shape=keep_shape)
    def reversed_(x):
        return x[..., ::-1]

    assert failing(reversed_, VECTOR) == {"batched"}


def test_batched_finds_a_shape_without_lead_axes():
    @primitive(
        x=lambda g, x_spec: reshape(g, shape=x_spec.shape, rank=g.ndim),
        shape=lambda x: (prod(x.shape),),
    )
    def flat(x):
        return x.reshape(-1)

    samples = [Sample((normal(2, 3),), dtypes=(), skip=UNASKED)]
    assert failing(flat, samples) == {"batched"}
    with pytest.raises(Exception, match="cannot reshape"):
        PROPERTIES["vmapped"](flat.op, samples)


def test_linear_finds_a_rule_that_clips():
    @primitive(x=lambda g: gate(g, less(g * g, 10000)), shape=keep_shape)
    def same(x):
        return +x

    assert failing(same, VECTOR) == {"linear"}


def test_forward_finds_a_rule_that_is_wrong_at_a_zero_cotangent():
    @primitive(x=lambda g: gate(g, not_equal(g, 0)), shape=keep_shape)
    def same(x):
        return +x

    assert failing(same, VECTOR) == {"forward"}


def test_raw_finds_a_rule_that_looks_at_types():
    @primitive(x=lambda g: g * (1 + 1e-10) if isinstance(g, Tensor) else g, shape=keep_shape)
    def same(x):
        return +x

    samples = [Sample((normal(3),), dtypes=("float32",), skip=UNASKED)]
    assert failing(same, samples) == {"raw"}


def test_dtype_finds_a_widened_cotangent():
    @primitive(x=lambda g: cast(g, dtype=np.dtype("float64")), shape=keep_shape)
    def same(x):
        return +x

    assert failing(same, VECTOR) == {"dtype"}


def test_pure_finds_a_rule_that_writes_into_its_cotangent():
    @primitive(g=lambda g: twice_in_place(g), shape=keep_shape)
    def twice_in_place(g):
        g *= 2
        return g

    @primitive(x=lambda g: twice_in_place(g), shape=keep_shape)
    def twice(x):
        return 2 * x

    assert failing(twice, VECTOR) == {"pure"}


def test_pure_finds_a_rule_that_writes_into_a_residual():
    @primitive(x=None, shape=keep_shape)
    def zero_in_place(x):
        x *= 0
        return x

    @primitive(x=lambda g, out: g + zero_in_place(out), shape=keep_shape)
    def same(x):
        return +x

    assert failing(same, VECTOR) == {"pure"}


def test_zero_size_finds_a_division_by_the_size():
    @primitive(x=lambda g, x_spec: g * (x_spec.shape[-1] // x_spec.shape[-1]), shape=keep_shape)
    def same(x):
        return +x

    assert failing(same, [Sample((normal(3),)), Sample((normal(0),))]) == {"zero_size"}


def test_zero_size_asks_for_a_sample():
    @primitive(x=lambda g: g, shape=keep_shape)
    def same(x):
        return +x

    with pytest.raises(AssertionError, match="give a sample in which some array is empty"):
        PROPERTIES["zero_size"](same.op, [Sample((normal(3),))])


def test_scalars_finds_a_rule_that_needs_an_axis():
    @elementwise(x=lambda g, x_spec: g * (x_spec.shape[-1] * 0 + 1))
    def same(x):
        return +x

    assert failing(same, [Sample((normal(3),))]) == {"scalars"}


def test_broadcast_finds_a_rule_that_reshapes_to_its_input():
    def product_wrt_a(g, a_spec, b):
        return reshape(g, shape=a_spec.shape, rank=len(a_spec.shape)) * b

    @elementwise(a=product_wrt_a, b=lambda g, a: g * a)
    def product(a, b):
        return a * b

    assert failing(product, PAIR) == {"broadcast"}


def test_kernel_finds_a_kernel_that_writes_into_its_input():
    @primitive(x=None, shape=keep_shape)
    def twice(x):
        x *= 2
        return x

    assert failing(twice, VECTOR) == {"kernel"}


def test_dispatch_finds_a_form_that_records_something_else():
    @primitive(x=lambda g: g * 2, shape=keep_shape)
    def twice(x):
        return x + x

    twice.op.function = lambda x: add(x, x)
    assert failing(twice, VECTOR) == {"dispatch"}


def test_shape_finds_a_primitive_without_a_shape_rule():
    @primitive(x=lambda g: g)
    def same(x):
        return +x

    assert failing(same, VECTOR) == {"shape"}


@pytest.mark.parametrize(
    "rule",
    [
        lambda x: (*x.shape, 1),
        lambda x: Spec((x.shape, np.dtype("float32"))),
        lambda x: (operator.index(x.shape[0]),),
        lambda x: (FRESH,),
        lambda x: x.shape if type(x.shape[0]) is int else (x.shape[0] + 1,),
        lambda x: [x.shape, x.shape],
    ],
)
def test_shape_finds_a_wrong_shape_rule(rule):
    @primitive(x=lambda g: g, shape=rule)
    def same(x):
        return +x

    assert failing(same, VECTOR) == {"shape"}


def test_shape_finds_a_rule_that_reads_an_unknown_static_size():
    @primitive(x=None, shape=lambda x, size: (operator.index(size),))
    def repeat(x, *, size):
        return np.repeat(x, size)

    assert failing(repeat, [Sample((normal(1),), {"size": 3}, skip=UNASKED)]) == {"shape"}


def test_a_primitive_without_samples_is_reported():
    @primitive(x=None, shape=keep_shape)
    def same(x):
        return +x

    assert missing({"same": same.op}, {}) == {"same"}
    assert missing({"same": same.op}, {"same": VECTOR}) == set()


def test_a_rule_that_no_sample_reaches_is_reported():
    @elementwise(a=lambda g: g, b=lambda g: g)
    def total(a, b):
        return a + b

    half = [Sample((normal(3), np.arange(3)))]
    assert missing({"total": total.op}, {"total": half}) == {"total"}
