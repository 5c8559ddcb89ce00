"""tf.variable_creator_scope."""

import threading

import pytest

import gradtape as tf


def test_the_innermost_creator_is_called_first():
    calls = []

    def note(which):
        def create(next_creator, **kwargs):
            calls.append((which, kwargs["name"]))
            return next_creator(**kwargs)

        return create

    with tf.variable_creator_scope(note("outer")), tf.variable_creator_scope(note("inner")):
        v = tf.Variable(2.0, name="weight")
    tf.Variable(1.0)
    assert calls == [("inner", "weight"), ("outer", "weight")]
    assert v.name == "weight:0"
    assert v.numpy() == 2


def test_a_creator_changes_arguments_or_returns_another_object():
    def freeze(next_creator, **kwargs):
        return next_creator(**{**kwargs, "trainable": False})

    with tf.variable_creator_scope(freeze):
        assert not tf.Variable(1.0).trainable
        assert not tf.Variable(1.0, True).trainable
    with tf.variable_creator_scope(lambda next_creator, **kwargs: "another"):
        assert tf.Variable(1.0) == "another"


def test_creators_see_variables_of_functions():
    names = []

    def note(next_creator, **kwargs):
        names.append(kwargs["name"])
        return next_creator(**kwargs)

    class Layer(tf.Module):
        weight = None

        @tf.function
        def __call__(self, x):
            if self.weight is None:
                self.weight = tf.Variable(3.0, name="weight")
            return self.weight * x

    layer = Layer()
    with tf.variable_creator_scope(note):
        assert float(layer(tf.constant(2.0))) == 6
        assert float(layer(tf.constant(3.0))) == 9
    assert names == ["weight"]


def test_errors_end_the_scope_and_threads_have_their_own():
    with pytest.raises(RuntimeError), tf.variable_creator_scope(lambda f, **kwargs: None):
        raise RuntimeError
    assert isinstance(tf.Variable(1.0), tf.Variable)
    made = []
    with tf.variable_creator_scope(lambda f, **kwargs: None):
        thread = threading.Thread(target=lambda: made.append(tf.Variable(1.0)))
        thread.start()
        thread.join()
    assert isinstance(made[0], tf.Variable)


def test_a_creator_must_be_callable():
    with pytest.raises(TypeError, match="variable_creator"), tf.variable_creator_scope(3):
        pass
