"""tf.debugging: the values that assertions accept, and the errors they raise."""

import threading

import numpy as np
import pytest

import gradtape as tf

debugging = tf.debugging
Invalid = tf.errors.InvalidArgumentError


@pytest.fixture
def checking():
    debugging.enable_check_numerics()
    yield
    debugging.disable_check_numerics()


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (debugging.assert_equal, ([1, 2], [1, 2]), ([1, 2], [1, 3])),
        (debugging.assert_none_equal, ([1], [2]), ([1, 2], [3, 2])),
        (debugging.assert_less, ([1, 2], 3), ([1, 2], 2)),
        (debugging.assert_less_equal, (2, 2), (3, 2)),
        (debugging.assert_greater, (3.0, 2.0), (2.0, 2.0)),
        (debugging.assert_greater_equal, (2, 2), (1, 2)),
        (debugging.assert_positive, ([],), ([0.0],)),
        (debugging.assert_negative, (-1,), (0,)),
        (debugging.assert_non_negative, (0,), (-1.0,)),
        (debugging.assert_non_positive, (0,), ([1],)),
        (debugging.assert_near, (1.0, 1.0 + 1e-7), (1.0, 1.1)),
        (debugging.Assert, ([True], ["x"]), (False, ["x", [1, 2, 3, 4]])),
    ],
)
def test_comparisons(check, good, bad):
    assert check(*good) is None
    with pytest.raises(Invalid):
        check(*bad)


def test_the_message_is_part_of_the_error():
    with pytest.raises(Invalid, match="totals differ"):
        debugging.assert_equal([1, 2], [1, 3], message="totals differ")
    with pytest.raises(Invalid, match=r"1, 2, \.\.\."):
        debugging.Assert(False, [tf.constant([1, 2, 3])], summarize=2)


@pytest.mark.parametrize(
    ("check", "args", "error"),
    [
        (debugging.assert_equal, (1.0, 1), Invalid),
        (debugging.assert_equal, ([1, 2], [1, 2, 3]), Invalid),
        (debugging.assert_near, (1, 1), ValueError),
        (debugging.assert_rank, ([1], 2), ValueError),
        (debugging.assert_rank, ([1], 1.0), TypeError),
        (debugging.assert_rank, ([1], [1]), ValueError),
        (debugging.assert_rank_at_least, ([1], 2), ValueError),
        (debugging.assert_rank_in, ([1], (0, 2)), ValueError),
        (debugging.assert_scalar, ([1],), ValueError),
        (debugging.assert_type, (1, tf.float32), TypeError),
        (debugging.assert_integer, (1.0,), TypeError),
        (debugging.assert_same_float_dtype, ([tf.constant(1)],), ValueError),
        (debugging.assert_proper_iterable, ("ab",), TypeError),
        (debugging.assert_proper_iterable, (tf.constant([1]),), TypeError),
        (debugging.assert_proper_iterable, (3,), TypeError),
        (debugging.check_numerics, ([1.0, np.nan], "m"), Invalid),
        (debugging.check_numerics, ([1], "m"), Invalid),
        (debugging.assert_all_finite, ([np.inf], "m"), Invalid),
    ],
)
def test_a_failed_assertion_raises(check, args, error):
    with pytest.raises(error):
        check(*args)


def test_axes_with_the_same_symbol_must_have_equal_sizes():
    x, y = tf.zeros((2, 3)), tf.zeros((5, 2, 3))
    debugging.assert_shapes([(x, ("N", "D")), (y, (..., "D")), (x, (2, None)), (tf.zeros(()), ())])
    for bad in (
        [(x, ("D", "D"))],
        [(x, ("N", "D")), (y, ("*", "N"))],
        [(x, (2, 4))],
        [(x, (2,))],
        [(x, ("N", ...))],
        [(x, 2)],
    ):
        with pytest.raises(ValueError, match="shape"):
            debugging.assert_shapes(bad)


@pytest.mark.usefixtures("checking")
def test_the_error_names_the_op_that_produced_nan():
    with pytest.raises(Invalid, match="'log'"):
        tf.math.log(-1.0)
    with pytest.raises(Invalid, match="Inf"):
        tf.constant([1.0]) / tf.constant([0.0])
    assert np.isnan(tf.reshape(tf.constant([np.nan]), (1, 1)).numpy())


@pytest.mark.usefixtures("checking")
def test_gradients_are_checked_too():
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    with pytest.raises(Invalid):
        tape.gradient(y, x)


@pytest.mark.usefixtures("checking")
def test_checking_changes_no_result():
    x = tf.Variable([0.5, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            y = tf.exp(x) * x
        slope = tape.gradient(y, x)
    second = outer.gradient(slope, x)
    np.testing.assert_allclose(second, np.exp([0.5, 2.0]) * [2.5, 4.0], rtol=1e-6)


@pytest.mark.usefixtures("checking")
def test_checking_applies_to_one_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(tf.math.log(-1.0).numpy()))
    thread.start()
    thread.join()
    assert np.isnan(found[0])


def test_disabling_stops_all_checks():
    debugging.enable_check_numerics()
    debugging.enable_check_numerics()
    debugging.disable_check_numerics()
    debugging.disable_check_numerics()
    assert np.isnan(tf.math.log(-1.0).numpy())


def test_numeric_tensors():
    assert debugging.is_numeric_tensor(tf.constant(1j))
    for other in (tf.constant("a"), tf.constant(True), 1, tf.Variable(1.0)):
        assert not debugging.is_numeric_tensor(other)
