"""cond, case, switch_case and while_loop: structures, and errors for invalid arguments."""

import pytest

import gradtape as tf


def returns(value):
    return lambda: tf.constant(value)


def test_a_predicate_must_be_a_value():
    for pred in (None, lambda: True):
        with pytest.raises(ValueError, match="convert"):
            tf.cond(pred, returns(1), returns(2))


def test_exclusive_cases_must_not_both_hold():
    pairs = [(tf.constant(True), returns(1)), (tf.constant(True), returns(2))]
    assert tf.case(pairs) == 1
    assert tf.case(pairs, exclusive=True) == 1  # the last predicate is not checked
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1"):
        tf.case(pairs, exclusive=True, default=returns(3))


def test_cases_in_a_dict_have_no_order():
    table = {tf.constant(False).ref(): returns(1), tf.constant(True).ref(): returns(2)}
    assert tf.case(table, exclusive=True, default=returns(3)) == 2
    with pytest.raises(ValueError, match="order"):
        tf.case(table)


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        ([], ValueError),
        ([(True, returns(1))], TypeError),
        ([(tf.constant(1), returns(1))], TypeError),
        ([(tf.constant(True), 3)], TypeError),
        ([[tf.constant(True), returns(1)]], TypeError),
        (3, TypeError),
    ],
)
def test_cases_must_be_pairs_of_a_bool_tensor_and_a_callable(pairs, error):
    with pytest.raises(error):
        tf.case(pairs)


@pytest.mark.parametrize(
    ("index", "branches", "error"),
    [
        (1, [returns(1)], TypeError),
        (tf.constant(1.0), [returns(1)], TypeError),
        (tf.constant(0), [], ValueError),
        (tf.constant(0), {0: returns(1), 2: returns(2)}, ValueError),
        (tf.constant(0), [(1, returns(1)), (1, returns(2))], ValueError),
        (tf.constant(0), {0.5: returns(1)}, TypeError),
        (tf.constant(0), [3], TypeError),
    ],
)
def test_branches_must_be_numbered_callables_and_the_index_a_tensor(index, branches, error):
    with pytest.raises(error):
        tf.switch_case(index, branches)


def test_loop_variables_are_returned_in_the_structure_of_the_body():
    result = tf.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x * 2], (0, tf.constant(1.0)))
    assert isinstance(result, list)
    assert [float(r) for r in result] == [3.0, 8.0]
    assert all(
        isinstance(r, tf.Tensor)
        for r in tf.while_loop(lambda i: i < 0, lambda i: i, (tf.Variable(1),))
    )


def test_a_loop_must_keep_its_structure():
    start = (tf.constant(0), {"a": tf.constant(1.0)})
    with pytest.raises(ValueError, match="structure"):
        tf.while_loop(lambda i, d: i < 3, lambda i, d: (i + 1, {"b": d["a"]}), start)
    for nothing in ([], None, 0):
        with pytest.raises(ValueError, match="loop_vars"):
            tf.while_loop(lambda: False, list, nothing)
    with pytest.raises(ValueError, match="scalar"):
        tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], maximum_iterations=[2])
    with pytest.raises(ValueError, match="None"):
        tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, None), (0, tf.constant(1.0)))
