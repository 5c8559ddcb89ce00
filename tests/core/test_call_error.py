"""Errors of public calls name the op and its arguments; internal errors get another class."""

import pickle
import traceback

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import errors
from gradtape.core.call_error import describe_value
from gradtape.core.errors import public

LOOP = []
LOOP.append(LOOP)
DOUBLE = []
DOUBLE.extend([DOUBLE, DOUBLE])
DICT = {}
DICT["a"] = DICT
DEEP = [1.0]
for _ in range(3000):
    DEEP = [DEEP]

# Functions of the library: the name of their file says so.
SOURCE = """
@public
def look_up(table, key=None):
    return table.rows[key]

@public
def look_up_outside(table, key=None):
    return look_up(table, key)

@public
def refuse(size):
    raise ValueError(f"It must be even, not {size}.")

@public
def refuse_with_names(size):
    raise errors.InvalidArgumentError(f"refuse: size must be even. Received {size}.")

KEPT = ValueError("no")

@public
def refuse_again(x):
    raise KEPT

@public
def check(x):
    assert x

@public
def allocate(n):
    raise MemoryError("too much")

@public
def misspell(x):
    return mispelled + x

@public
def repeat(function, x):
    return function(x)
"""
library = {"public": public, "errors": errors}
exec(compile(SOURCE, "<gradtape test_call_error>", "exec"), library)
look_up, look_up_outside = library["look_up"], library["look_up_outside"]
refuse = library["refuse"]


class Table:
    """Something with rows."""

    def __init__(self, rows):
        self.rows = rows


@pytest.mark.parametrize(
    ("table", "key", "kind", "text"),
    [
        (None, 1, TypeError, "'NoneType' object has no attribute 'rows'"),
        (Table([1]), 7, ValueError, "list index out of range"),
        (Table({}), "k", ValueError, "'k'"),
        (Table([1]), "k", TypeError, "indices must be integers"),
    ],
)
@pytest.mark.parametrize("function", [look_up, look_up_outside])
def test_an_internal_error_names_the_outermost_call(table, key, kind, text, function):
    with pytest.raises(kind, match=text) as caught:
        function(table, key=key)
    message = str(caught.value)
    assert type(caught.value) is kind
    assert message.startswith(f"{function.__name__}: ")
    assert "Received table=" in message
    assert f"key={key!r}" in message
    assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == __file__


def test_the_cause_of_a_replaced_error_is_kept():
    with pytest.raises(TypeError) as caught:
        look_up_outside(None)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_a_check_gets_the_names_that_it_lacks():
    with pytest.raises(ValueError, match=r"^refuse: It must be even, not 3\. Received size=3\.$"):
        refuse(3)
    with pytest.raises(errors.InvalidArgumentError) as caught:
        library["refuse_with_names"](3)
    assert str(caught.value) == "refuse: size must be even. Received 3."


def test_an_error_that_is_raised_again_is_named_once():
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^refuse_again: no\. Received x=1\.$"):
            library["refuse_again"](1)


def test_a_call_that_does_not_fit_keeps_pythons_message():
    with pytest.raises(TypeError, match=r"^look_up\(\) missing 1 required positional argument"):
        look_up()


def test_an_assertion_without_a_message_is_an_internal_error():
    with pytest.raises(ValueError, match=r"^check: "):
        library["check"](0)


def test_an_undefined_name_is_a_bug_and_not_a_wrong_argument():
    with pytest.raises(tf.errors.InternalError, match=r"misspell: .*bug in gradtape") as caught:
        library["misspell"](1)
    assert isinstance(caught.value.__cause__, NameError)


def test_no_memory_is_tensorflows_error():
    with pytest.raises(errors.ResourceExhaustedError, match=r"^allocate: too much"):
        library["allocate"](3)


class UserError(KeyError):
    """An error of the user."""


def raise_user_error(*_):
    raise UserError("mine")


class Hostile:
    """An object whose conversion fails."""

    def __array__(self, dtype=None, copy=None):
        raise_user_error()


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.map_fn(raise_user_error, tf.ones(2)),
        lambda: tf.nest.map_structure(raise_user_error, [1]),
        lambda: tf.constant(Hostile()),
        lambda: tf.reduce_sum(Hostile()),
        lambda: tf.add(Hostile(), 1.0),
        lambda: tf.function(raise_user_error)(1.0),
    ],
)
def test_errors_of_the_users_code_stay_as_they_are(call):
    with pytest.raises(UserError) as caught:
        call()
    assert caught.value.args == ("mine",)
    assert caught.value.__cause__ is None


def test_a_named_error_can_be_pickled():
    with pytest.raises(ValueError, match="refuse") as caught:
        refuse(3)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert type(copied) is ValueError
    assert str(copied) == str(caught.value)


USES = {
    "constant": tf.constant,
    "convert_to_tensor": tf.convert_to_tensor,
    "reduce_sum": tf.reduce_sum,
    "add": lambda x: tf.add(x, 1.0),
    "operator": lambda x: tf.ones(2) + x,
    "sqrt": tf.sqrt,
    "divide": lambda x: tf.divide(x, 2.0),
    "matmul": lambda x: tf.matmul(x, x),
    "stack": tf.stack,
    "concat": lambda x: tf.concat(x, 0),
    "zeros": tf.zeros,
    "axis": lambda x: tf.reduce_max(tf.ones((2, 2)), axis=x),
    "gather": lambda x: tf.gather(tf.ones(3), x),
    "Variable": tf.Variable,
    "assign": lambda x: tf.Variable([1.0]).assign(x),
    "flatten": tf.nest.flatten,
    "map_structure": lambda x: tf.nest.map_structure(abs, x),
    "ragged.constant": tf.ragged.constant,
    "from_tensors": tf.data.Dataset.from_tensors,
    "from_tensor_slices": tf.data.Dataset.from_tensor_slices,
    "tape": lambda x: tf.GradientTape().watch(x),
    "flip": lambda x: tf.experimental.numpy.flip(tf.ones((2, 2)), x),
    "pad_width": lambda x: tf.experimental.numpy.pad(tf.ones(2), x, "constant"),
    "asarray": tf.experimental.numpy.asarray,
    "TensorShape": tf.TensorShape,
    "padding": lambda x: tf.nn.conv2d(tf.ones((1, 4, 4, 1)), tf.ones((2, 2, 1, 1)), 1, x),
}
ENDLESS = {"list": LOOP, "twice": DOUBLE, "tuple": (LOOP,), "dict": DICT, "deep": DEEP}


@pytest.mark.parametrize("value", ENDLESS.values(), ids=ENDLESS)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_structure_without_end_is_refused(use, value):
    with pytest.raises((TypeError, ValueError, errors.OpError)):
        use(value)


@pytest.mark.parametrize("use", [tf.constant, tf.reduce_sum, tf.sqrt], ids=lambda f: f.__name__)
def test_a_structure_without_end_is_refused_in_a_function(use):
    function = tf.function(lambda x: use(LOOP) * x)
    for _ in range(3):
        with pytest.raises((TypeError, ValueError, errors.OpError)):
            function(tf.constant(1.0))
    with tf.GradientTape(), pytest.raises((TypeError, ValueError, errors.OpError)):
        use(LOOP)


def test_recursion_of_the_user_stays_a_recursion_error():
    def recur(x):
        return library["repeat"](recur, x)

    with pytest.raises(RecursionError):
        recur(1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tf.ones((2, 3)), "<EagerTensor shape=(2, 3) dtype=float32>"),
        (np.zeros(2), "<ndarray shape=(2,) dtype=float64>"),
        ("a", "'a'"),
        (10**5000, "<int>"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, ...]"),
        (LOOP, "[[[[...]]]]"),
    ],
    ids=["tensor", "array", "string", "number", "list", "loop"],
)
def test_a_value_is_described_in_a_few_words(value, text):
    assert describe_value(value) == text
