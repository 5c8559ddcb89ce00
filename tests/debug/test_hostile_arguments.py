"""Wrong arguments of debugging tools and transforms raise TypeError or ValueError."""

import pytest

import gradtape as tf
from gradtape import debug, func

NO_TENSORS = [None, [], {}, "text", ["a"], 3, [[None], {"a": []}], object, len]
TRANSFORMS = ["grad", "value_and_grad", "jacrev", "jacfwd", "hessian", "vmap", "per_example_grad"]


def sum_squares(x):
    return tf.reduce_sum(x * x)


@pytest.fixture
def lost():
    v = tf.Variable([1.0, 2.0])
    with debug.explain(), tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.round(v))
    return tape, y, v


@pytest.mark.parametrize("wrong", NO_TENSORS, ids=str)
def test_explain_needs_tensors(lost, wrong):
    tape, y, v = lost
    with pytest.raises(TypeError, match="explain: source must be a tensor"):
        tape.explain(y, wrong)
    with pytest.raises(TypeError, match="explain: target must be a tensor"):
        tape.explain(wrong, v)
    with pytest.raises(TypeError, match="explain: source must be a tensor"):
        tf.GradientTape().explain(y, wrong)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("wrong", [None, 3, [], tf.ones(2)], ids=repr)
def test_transforms_need_a_function(name, wrong):
    with pytest.raises(TypeError, match=f"{name}: function must be callable"):
        getattr(func, name)(wrong)


@pytest.mark.parametrize("name", [n for n in TRANSFORMS if n != "vmap"])
@pytest.mark.parametrize("wrong", [None, "a", [], (), 2.5, object, True, 10**30, {0: 1}], ids=str)
def test_argnums_must_be_positions(name, wrong):
    with pytest.raises((TypeError, ValueError), match="argnums must"):
        getattr(func, name)(sum_squares, wrong)(tf.ones(2))


@pytest.mark.parametrize("wrong", [3, "a", tf.ones(3), tf.constant([1, 2])], ids=repr)
def test_a_cotangent_must_fit_the_value(wrong):
    pull_back = func.vjp(tf.tanh, tf.ones(2))[1]
    with pytest.raises((TypeError, ValueError)):
        pull_back(wrong)


def test_a_cotangent_may_be_a_list_of_numbers_or_integers_of_a_scalar():
    assert float(func.vjp(tf.square, 3.0)[1](1)[0]) == 6.0


@pytest.mark.parametrize("nothing", [[], {}, ()], ids=str)
def test_jacfwd_needs_a_tensor(nothing):
    with pytest.raises(ValueError, match="jacfwd: the arguments at argnums must have tensors"):
        func.jacfwd(lambda x: tf.ones(2))(nothing)


@pytest.mark.parametrize("option", ["order", "samples", "tolerance"])
@pytest.mark.parametrize("wrong", ["a", [], -1, tf.ones(2), 1j], ids=repr)
def test_options_of_check_gradients_are_checked(option, wrong):
    with pytest.raises(ValueError, match=f"check_gradients: {option} must be"):
        debug.check_gradients(tf.tanh, tf.ones(2), **{option: wrong})


def test_tools_say_what_they_expect():
    with pytest.raises(TypeError, match="f must be callable"):
        debug.check_gradients(3, tf.ones(2))
    with pytest.raises(TypeError, match="expected a GradientTape"):
        debug.saved_bytes([])
    with pytest.raises(TypeError, match=r"expected a tf\.function"):
        debug.plan_memory(len)
