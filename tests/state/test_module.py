"""Module: where it finds variables and submodules, and in which order."""

import collections

import pytest

import gradtape as tf


def test_a_modules_own_leaves_come_before_those_of_submodules():
    m = tf.Module(name="m")
    m.z = tf.Module(name="z")
    m.a = tf.Module(name="a")
    m.a.q = tf.Module(name="q")
    m.z.y = tf.Module(name="y")
    m.items = [tf.Module(name="l"), {"k": tf.Module(name="k")}]
    m.again = m.a
    assert [s.name for s in m.submodules] == ["a", "l", "k", "z", "q", "y"]
    for one in (m, *m.submodules):
        one.v = tf.Variable(0.0, name=one.name)
    assert "".join(v.name[0] for v in m.variables) == "maqlkzy"


def test_cycles_are_visited_once():
    m = tf.Module(name="m")
    m.child = tf.Module(name="child")
    m.child.parent = m
    assert [s.name for s in m.submodules] == ["child"]


def test_structures_are_searched():
    pair = collections.namedtuple("pair", "y x")
    m = tf.Module()
    m.table = {"b": tf.Variable(2.0), "a": tf.Variable(1.0)}
    m.tuples = pair(tf.Variable(3.0), [tf.Variable(4.0, trainable=False)])
    assert [float(v) for v in m.variables] == [1.0, 2.0, 3.0, 4.0]
    assert len(m.trainable_variables) == 3
    assert len(m.non_trainable_variables) == 1
    paths = [path for path, _ in m._flatten(with_path=True, predicate=tf.is_tensor)]
    assert paths == [("table", "a"), ("table", "b"), ("tuples", "y"), ("tuples", "x", 0)]


@pytest.mark.parametrize(
    ("cls", "name"),
    [("MyDense2D", "my_dense2_d"), ("HTTPServer", "http_server"), ("RNN2", "rnn2"), ("aB", "a_b")],
)
def test_default_names_are_class_names_in_snake_case(cls, name):
    assert type(cls, (tf.Module,), {})().name == name


def test_names_are_identifiers():
    for name in ("a b", "1a", "", "a/b"):
        with pytest.raises(ValueError, match="identifier"):
            tf.Module(name=name)


def test_the_name_scope_is_that_of_creation():
    class Layer(tf.Module):
        @tf.Module.with_name_scope
        def build(self):
            return tf.Variable(1.0, name="w").name

    with tf.name_scope("outer"):
        layer = Layer()
    assert layer.name_scope.name == "outer/layer/"
    assert layer.build() == "outer/layer/w:0"


def test_trainable_variables_do_not_ask_for_variables():
    """Sonnet overrides each property with a check of its own."""

    class Checked(tf.Module):
        @property
        def variables(self):
            raise ValueError("variables")

    module = Checked()
    module.a, module.b = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    assert module.trainable_variables[0] is module.a
    assert module.non_trainable_variables[0] is module.b
