"""tf.function: which calls share a trace, what may be passed, and what is returned."""

import collections
import dataclasses

import numpy as np
import pytest

import gradtape as tf

Point = collections.namedtuple("Point", ["x", "y"])


def counted(**options):
    """A function that logs each run of its Python code, and the log."""
    runs = []

    @tf.function(**options)
    def f(*args, **kwargs):
        runs.append(len(runs))
        flat = tf.nest.flatten((args, kwargs))
        return [tf.identity(a) for a in flat if tf.is_tensor(a)]

    return f, runs


def test_results_keep_their_structure():
    @tf.function
    def f(x):
        return {"a": [x, (x + 1, None)], "p": Point(x, 2 * x), "n": 3}

    for _ in range(3):
        out = f(tf.constant(2))
        assert list(out) == ["a", "p", "n"]
        assert isinstance(out["a"], list)
        assert isinstance(out["a"][1], tuple)
        assert out["a"][1][1] is None
        assert int(out["a"][1][0]) == 3
        assert isinstance(out["p"], Point)
        assert int(out["p"].y) == 4
        assert tf.is_tensor(out["n"])
        assert out["n"].dtype == tf.int32


def test_a_function_that_returns_nothing_returns_none():
    v = tf.Variable(0)

    @tf.function
    def f():
        v.assign_add(1)

    assert [f(), f(), f()] == [None, None, None]
    assert int(v) == 3


def test_arguments_keep_their_structure():
    @tf.function
    def f(pair, *rest, scale=1, **named):
        return pair["a"] * scale + pair["b"][0] + sum(rest) + named["z"]

    for _ in range(3):
        pair = {"a": tf.constant(2.0), "b": (tf.constant(3.0),)}
        out = f(pair, tf.constant(1.0), tf.constant(1.0), scale=10.0, z=tf.constant(0.5))
        assert float(out) == 25.5


def test_tensors_share_a_trace_by_dtype_and_shape():
    f, runs = counted()
    for value in (1.0, 2.0, 3):
        f(tf.constant(value, tf.float32))
    assert len(runs) == 1
    f(tf.constant(1))
    assert len(runs) == 2
    f(tf.zeros(2))
    assert len(runs) == 3
    f(tf.ones(2))
    assert len(runs) == 3


def test_python_values_share_a_trace_by_equality():
    f, runs = counted()
    for value in (1, 1, 2, "a", "a", None, (1, "b"), (1, "b"), 2.5):
        f(value)
    assert len(runs) == 6


def test_numpy_arrays_are_tensors():
    f, runs = counted()
    f(np.float32(1))
    f(tf.constant(2.0))
    f(np.array(3, np.float32))
    assert len(runs) == 1


def test_a_default_and_the_same_value_given_share_a_trace():
    runs = []

    @tf.function
    def f(x, n=2):
        runs.append(n)
        return x * n

    x = tf.constant(3)
    assert [int(f(x)), int(f(x, 2)), int(f(x, n=2)), int(f(n=2, x=x)), int(f(x, 3))] == [6] * 4 + [
        9
    ]
    assert runs == [2, 3]


def test_objects_share_a_trace_by_identity():
    class Config:
        def __init__(self, k):
            self.k = k

    runs = []

    @tf.function
    def f(x, config):
        runs.append(config.k)
        return x * config.k

    one, two = Config(2), Config(5)
    x = tf.constant(3)
    assert [int(f(x, c)) for c in (one, two, one, two)] == [6, 15, 6, 15]
    assert runs == [2, 5]
    one.k = 7
    assert int(f(x, one)) == 6


def test_equal_objects_share_a_trace():
    @dataclasses.dataclass(frozen=True)
    class Config:
        k: int

    runs = []

    @tf.function
    def f(x, config):
        runs.append(config.k)
        return x * config.k

    a, b, c = Config(2), Config(2), Config(3)
    assert [int(f(tf.constant(1), config)) for config in (a, b, c, a)] == [2, 2, 3, 2]
    assert runs == [2, 3]


def test_arguments_must_be_hashable():
    @dataclasses.dataclass
    class Config:
        k: int

    f = tf.function(lambda x, config: x)
    for thing in (Config(2), {1, 2}):
        with pytest.raises(TypeError):
            f(tf.constant(1), thing)


def test_functions_and_bound_methods_are_arguments():
    class Model:
        def double(self, x):
            return 2 * x

    runs = []

    @tf.function
    def apply(g, x):
        runs.append(1)
        return g(x)

    model = Model()
    square = tf.function(lambda x: x * x)

    def plain(x):
        return x + 1

    for _ in range(2):
        assert int(apply(plain, tf.constant(3))) == 4
        assert int(apply(square, tf.constant(3))) == 9
    assert len(runs) == 2
    assert int(apply(model.double, tf.constant(3))) == 6


def test_variables_as_arguments_share_a_trace_unless_they_alias_differently():
    runs = []

    @tf.function
    def f(a, b):
        runs.append(1)
        a.assign_add(1.0)
        return a + b

    one, two, three = (tf.Variable(float(i)) for i in (1, 2, 3))
    assert float(f(one, two)) == 4.0
    assert float(f(two, three)) == 6.0
    assert float(f(three, one)) == 6.0
    assert len(runs) == 1
    assert float(f(one, one)) == 6.0
    assert len(runs) == 2
    assert float(f(two, two)) == 8.0
    assert len(runs) == 2
    assert [float(v) for v in (one, two, three)] == [3.0, 4.0, 4.0]


def test_iterators_share_a_trace_by_element_spec():
    runs = []

    @tf.function
    def f(iterator):
        runs.append(1)
        return next(iterator) * 10

    a = iter(tf.data.Dataset.range(3))
    b = iter(tf.data.Dataset.range(7, 9))
    assert [int(f(a)), int(f(b)), int(f(a)), int(f(b)), int(f(a))] == [0, 70, 10, 80, 20]
    assert len(runs) == 1
    c = iter(tf.data.Dataset.from_tensor_slices([1.0, 2.0]))
    assert [float(f(c)), float(f(c))] == [10.0, 20.0]
    assert len(runs) == 2


def test_an_input_signature_with_none_takes_every_size():
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(x):
        return tf.reduce_sum(x * x)

    assert [float(f(tf.ones([n, 2]))) for n in (1, 4, 1, 0)] == [2.0, 8.0, 2.0, 0.0]
    assert float(f([[1.0, 2.0]])) == 5.0
    assert float(f(x=np.ones((3, 2), np.float32))) == 6.0
    assert float(f(np.ones((3, 2), np.float32))) == 6.0


@pytest.mark.parametrize(
    "bad",
    [
        lambda: (tf.ones([2, 3]),),
        lambda: (tf.ones([2]),),
        lambda: (tf.ones([2, 2], tf.int32),),
        lambda: (tf.ones([2, 2]), tf.ones([2, 2])),
        lambda: (),
    ],
)
def test_an_input_signature_refuses_what_does_not_fit(bad):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    with pytest.raises(TypeError):
        f(*bad())


def test_an_input_signature_may_be_nested():
    spec = {"a": tf.TensorSpec([None], tf.float32), "b": [tf.TensorSpec([], tf.int32)]}

    @tf.function(input_signature=[spec])
    def f(d):
        return tf.reduce_sum(d["a"]) + tf.cast(d["b"][0], tf.float32)

    assert float(f({"a": [1.0, 2.0], "b": [3]})) == 6.0
    assert float(f({"a": tf.ones([5]), "b": [tf.constant(1)]})) == 6.0


def test_arguments_beyond_the_input_signature_are_their_defaults():
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def f(x, scale=2.0):
        return x * scale

    assert float(f(3.0)) == 6.0
    assert float(f(3.0, 2.0)) == 6.0
    for bad in (lambda: f(3.0, 4.0), lambda: f(3.0, scale=4.0)):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(TypeError):
        tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([], tf.float32)])(1.0, 2.0)


@pytest.mark.parametrize(
    "bad", [{"a": [1.0]}, {"a": [1.0], "b": [1], "c": 2}, 1.0, {"a": [1.0], "b": [1, 2]}]
)
def test_a_nested_input_signature_refuses_other_structures(bad):
    spec = {"a": tf.TensorSpec([None], tf.float32), "b": [tf.TensorSpec([], tf.int32)]}
    f = tf.function(lambda d: d["a"], input_signature=[spec])
    with pytest.raises(TypeError):
        f(bad)


def test_wrong_arguments_are_type_errors():
    f = tf.function(lambda x, y: x)
    for args, kwargs in [((1,), {}), ((1, 2, 3), {}), ((1, 2), {"z": 3}), ((1, 2), {"x": 1})]:
        with pytest.raises(TypeError):
            f(*args, **kwargs)


# -- concrete functions


def test_a_concrete_function_of_specs_is_called_with_tensors():
    f = tf.function(lambda x, y: x * y + 1.0)
    concrete = f.get_concrete_function(
        tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.float32)
    )
    out = concrete(tf.constant([1.0, 2.0]), tf.constant(3.0))
    assert out.numpy().tolist() == [4.0, 7.0]
    assert concrete(x=tf.constant([1.0, 2.0]), y=tf.constant(1.0)).numpy().tolist() == [2.0, 3.0]
    args, kwargs = concrete.structured_input_signature
    assert [s.shape.as_list() for s in args] == [[2], []]
    assert kwargs == {}
    assert concrete.structured_outputs.shape.as_list() == [2]
    assert concrete.structured_outputs.dtype == tf.float32
    assert [o.shape.as_list() for o in concrete.outputs] == [[2]]
    assert [i.dtype for i in concrete.inputs] == [tf.float32, tf.float32]


def test_a_concrete_function_of_values_has_specs_for_tensors_and_keeps_python_values():
    f = tf.function(lambda x, n: x * n)
    concrete = f.get_concrete_function(tf.constant([1, 2]), 3)
    assert concrete(tf.constant([5, 6])).numpy().tolist() == [15, 18]
    args, _ = concrete.structured_input_signature
    assert args[0].shape.as_list() == [2]
    assert args[0].dtype == tf.int32


def test_a_concrete_function_refuses_a_wrong_dtype():
    concrete = tf.function(lambda x: x + x).get_concrete_function(tf.TensorSpec([], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(tf.constant(1))


def test_a_concrete_function_refuses_wrong_numbers_of_arguments():
    concrete = tf.function(lambda x: x + x).get_concrete_function(tf.TensorSpec([], tf.float32))
    with pytest.raises(TypeError):
        concrete()
    with pytest.raises(TypeError):
        concrete(tf.constant(1.0), tf.constant(2.0))
    with pytest.raises(TypeError):
        concrete(z=tf.constant(1.0))


def test_unknown_sizes_of_a_concrete_function_show_in_its_outputs():
    f = tf.function(lambda x: {"sum": tf.reduce_sum(x, 0), "both": tf.concat([x, x], 1)})
    concrete = f.get_concrete_function(tf.TensorSpec([None, 3], tf.float32))
    assert concrete.structured_outputs["sum"].shape.as_list() == [3]
    assert concrete.structured_outputs["both"].shape.as_list() == [None, 6]
    for n in (2, 5):
        assert concrete(tf.ones([n, 3]))["both"].shape.as_list() == [n, 6]


def test_a_concrete_function_from_an_input_signature_needs_no_arguments():
    f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None], tf.int32)])
    concrete = f.get_concrete_function()
    assert concrete(tf.constant([1, 2])).numpy().tolist() == [2, 4]


def test_getting_a_concrete_function_traces_without_side_effects():
    v = tf.Variable(1.0)
    runs = []

    @tf.function
    def f(x):
        runs.append(1)
        v.assign_add(x)
        return v * 2.0

    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert len(runs) == 1
    assert float(v) == 1.0
    assert float(concrete(tf.constant(2.0))) == 6.0
    assert float(concrete(tf.constant(2.0))) == 10.0
    assert float(f(tf.constant(1.0))) == 12.0
    assert float(v) == 6.0
    assert len(runs) == 1


def test_a_concrete_function_has_gradients():
    v = tf.Variable(3.0)
    f = tf.function(lambda x: x * x * v)
    concrete = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert [w is v for w in concrete.variables] == [True]
    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = concrete(x)
        slopes = tape.gradient(y, [x, v])
        assert [float(s) for s in slopes] == [12.0, 4.0]


def test_a_concrete_function_takes_nested_arguments_like_its_function():
    f = tf.function(lambda pair: pair["a"] - pair["b"])
    spec = tf.TensorSpec([], tf.float32)
    concrete = f.get_concrete_function({"a": spec, "b": spec})
    assert float(concrete({"a": tf.constant(5.0), "b": tf.constant(3.0)})) == 2.0


# -- when Python runs


def test_python_side_effects_happen_once_for_each_trace():
    notes = []

    @tf.function
    def f(x):
        notes.append("run")
        return x + 1

    for _ in range(4):
        f(tf.constant(1))
    f(tf.constant(1.0))
    f(tf.constant(1.0))
    assert notes == ["run", "run"]


def test_executing_eagerly_and_inside_function():
    seen = []

    @tf.function
    def f(x):
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        return x

    for _ in range(3):
        f(tf.constant(1.0))
    assert seen == [(False, True), True]
    assert tf.executing_eagerly()
    assert not tf.inside_function()


def test_init_scope_leaves_the_trace():
    made = []
    v = tf.Variable(10.0)

    @tf.function
    def f(x):
        with tf.init_scope():
            made.append(tf.constant(2.0) * 3.0)
            v.assign_add(1.0)
        return x * made[0]

    assert [float(f(tf.constant(a))) for a in (1.0, 2.0, 3.0)] == [6.0, 12.0, 18.0]
    assert made[0].numpy() == 6.0
    assert float(v) == 11.0
    assert len(made) == 1


def test_a_variable_may_be_created_within_init_scope_in_the_first_call():
    cells = []

    @tf.function
    def f(x):
        with tf.init_scope():
            if not cells:
                cells.append(tf.Variable(1.0))
        return x + cells[0]

    assert float(f(tf.constant(1.0))) == 2.0
    cells[0].assign(4.0)
    assert float(f(tf.constant(1.0))) == 5.0
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [5.0, 6.0]


def test_a_captured_tensor_and_variable_are_read_when_the_function_is_called():
    v = tf.Variable(2.0)
    c = tf.constant(10.0)
    f = tf.function(lambda x: x * v + c)
    assert float(f(tf.constant(1.0))) == 12.0
    v.assign(5.0)
    assert float(f(tf.constant(1.0))) == 15.0


def test_a_method_is_traced_for_each_object():
    runs = []

    class Layer:
        def __init__(self, k):
            self.w = tf.Variable(float(k))

        @tf.function
        def __call__(self, x):
            runs.append(1)
            return x * self.w

    one, two = Layer(2), Layer(3)
    x = tf.constant(5.0)
    assert [float(layer(x)) for layer in (one, two, one, two)] == [10.0, 15.0, 10.0, 15.0]
    assert len(runs) == 2
    assert float(Layer.__call__(one, x)) == 10.0


def test_a_bound_method_can_be_made_a_function():
    class Model:
        def __init__(self):
            self.w = tf.Variable(2.0)
            self.step = tf.function(self.plain)

        def plain(self, x):
            self.w.assign_add(x)
            return self.w + 0.0

    model = Model()
    assert [float(model.step(tf.constant(1.0))) for _ in range(3)] == [3.0, 4.0, 5.0]


def test_a_partial_and_a_callable_object_can_be_functions():
    import functools

    class Scale:
        def __call__(self, x):
            return x * 3

    f = tf.function(functools.partial(lambda k, x: k * x, 4))
    assert int(f(tf.constant(2))) == 8
    assert int(tf.function(Scale())(tf.constant(2))) == 6


def test_input_signature_of_a_method_leaves_out_self():
    class Scale(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([])])
        def __call__(self, x, by):
            return x * by

    scale = Scale()
    assert scale([1, 2], 2.0).numpy().tolist() == [2.0, 4.0]
    assert Scale.__call__(scale, tf.ones([3]), 3.0).numpy().tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(TypeError, match="no spec for 'y'"):

        class Short:
            @tf.function(input_signature=[tf.TensorSpec([])])
            def __call__(self, x, y):
                return x + y
