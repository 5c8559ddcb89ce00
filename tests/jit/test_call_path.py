"""How many Python functions of the library a call enters, and in how many files."""

import contextlib
import sys
from pathlib import Path

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.generated_code import REFERENCE

ROOT = str(Path(tf.__file__).parent)
GENERATORS = {"commit": "/state/variable/commit.py", "plan": "/compile/numpy/codegen.py"}
X = tf.constant([1.0, 2.0])


def walk(call):
    """The functions that a call enters, as (file, name); for generated code, its generator."""
    entered = []

    def note(frame, event, argument):
        if event == "call":
            name = frame.f_code.co_filename
            if name.startswith((ROOT, "<gradtape")):
                file = (
                    name.removeprefix(ROOT)
                    if name.startswith(ROOT)
                    else GENERATORS[name.split()[1]]
                )
                entered.append((file, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


def calls():
    """Calls of every kind, by name."""
    vs = [tf.Variable([1.0, 2.0]) for _ in range(10)]
    large, ones = tf.Variable(tf.zeros((100, 1000))), tf.ones((100, 1000))

    @tf.function
    def plain(x):
        return x * 2.0

    @tf.function
    def writes(x):
        for v in vs:
            v.assign_sub(x)
        return x * 2.0

    @tf.function
    def reads(x):
        return x * vs[0]

    @tf.function
    def branch(x):
        return x * 2.0 if tf.reduce_sum(x) > 0.0 else x - vs[0]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def signed(x):
        return x * 2.0

    inner = tf.function(lambda x: x * 2.0)
    nested = tf.function(lambda x: inner(x) + inner(x))
    concrete = plain.get_concrete_function(tf.TensorSpec([2], tf.float32))
    structured = tf.function(lambda x: {"a": x * 2.0, "b": (x, x + 1.0)})
    update = tf.function(lambda g: large.assign_sub(0.1 * g, read_value=False))
    by_argument = tf.function(lambda v, x: v.assign_sub(x))
    of_dict = tf.function(lambda d: d["a"] * d["b"])
    elements = iter(tf.data.Dataset.range(10**9).map(lambda i: i * 2))
    array = np.ones(2, np.float32)

    class Model(tf.Module):
        @tf.function
        def call(self, x):
            return x * vs[0]

    model = Model()

    return {
        "plain": lambda: plain(X),
        "keyword": lambda: plain(x=X),
        "input_signature": lambda: signed(X),
        "array": lambda: plain(array),
        "reads": lambda: reads(X),
        "writes": lambda: writes(X),
        "variable argument": lambda: by_argument(vs[0], X),
        "dict": lambda: of_dict({"a": X, "b": X}),
        "method": lambda: model.call(X),
        "nested": lambda: nested(X),
        "concrete": lambda: concrete(X),
        "structured result": lambda: structured(X),
        "guard": lambda: branch(X),
        "in place": lambda: update(ones),
        "tape": lambda: reads(X),
        "map": lambda: next(elements),
    }


CALLS = calls()


# A tape adds its record and the saved call; an element passes through the iterator, a concrete
# function checks its arguments.
MAX_FILES = {"tape": 8, "map": 9, "concrete": 7}


@pytest.mark.parametrize("kind", CALLS)
def test_a_repeated_call_enters_few_functions(kind):
    with tf.GradientTape() if kind == "tape" else contextlib.nullcontext():
        for _ in range(20):
            CALLS[kind]()
        entered = walk(CALLS[kind])
    assert len(entered) <= 12, entered
    assert len({file for file, _ in entered}) <= MAX_FILES.get(kind, 6), entered


def test_a_call_of_a_loaded_function_enters_few_functions(tmp_path):
    model = tf.Module()
    model.v = tf.Variable([1.0, 2.0])
    model.f = tf.function(lambda x: x * model.v, input_signature=[tf.TensorSpec([None, 2])])
    tf.saved_model.save(model, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.ones((3, 2))
    served = loaded.signatures["serving_default"]
    for call in (lambda: loaded.f(x), lambda: served(x=x)):
        for _ in range(3):
            call()
        entered = walk(call)
        assert len(entered) <= 12, entered
        assert len({file for file, _ in entered}) <= 6, entered


def test_a_first_call_enters_few_functions():
    v = tf.Variable([1.0, 2.0])

    def f(x):
        v.assign_sub(x)
        return x * 2.0

    tf.function(f)(X)  # imports
    first = tf.function(f)
    most = 320 if REFERENCE else 300  # readable functions call others
    assert len(walk(lambda: first(X))) <= most
