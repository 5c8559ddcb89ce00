"""Gradients, products and jacobians of functions, and how they compose."""

import numpy as np
import pytest

import gradtape as tf
from gradtape import func

X = tf.constant([1.0, 2.0, 3.0])


def cubes(x):
    return tf.reduce_sum(x**3)


def test_first_and_higher_orders():
    np.testing.assert_allclose(func.grad(cubes)(X), [3.0, 12.0, 27.0])
    np.testing.assert_allclose(func.hessian(cubes)(X), np.diag([6.0, 12.0, 18.0]))
    np.testing.assert_allclose(func.hvp(cubes, X, tf.ones(3)), [6.0, 12.0, 18.0])
    np.testing.assert_allclose(func.jacfwd(func.jacrev(cubes))(X), np.diag([6.0, 12.0, 18.0]))
    third = func.grad(func.grad(func.grad(lambda x: x**4)))
    assert float(third(2.0)) == 48.0


@pytest.mark.parametrize("jacobian", [func.jacfwd, func.jacrev])
def test_jacobians_have_the_structure_of_value_and_arguments(jacobian):
    def function(a, b):
        return {"product": a * b["w"], "sum": tf.reduce_sum(a)}

    found = jacobian(function, argnums=(0, 1))(X, {"w": tf.constant(2.0)})
    np.testing.assert_allclose(found["product"][0], np.eye(3) * 2)
    np.testing.assert_allclose(found["product"][1]["w"], X)
    np.testing.assert_allclose(found["sum"][0], np.ones(3))
    np.testing.assert_allclose(found["sum"][1]["w"], 0)


def test_arguments_are_not_confused_with_closures():
    slope = func.grad(lambda x: x * func.grad(lambda y: x + y)(x))(tf.constant(1.0))
    assert float(slope) == 1.0
    x = tf.constant(3.0)
    assert float(func.grad(lambda y: x * y)(x)) == 3.0
    assert float(func.jvp(lambda y: x * y, (x,), (1.0,))[1]) == 3.0


def test_modules_variables_and_structures_are_arguments():
    class Line(tf.Module):
        def __init__(self):
            self.w = tf.Variable([1.0, 2.0])
            self.b = tf.Variable(0.5)
            self.frozen = tf.Variable(1.0, trainable=False)

    line = Line()

    def loss(line, x, y):
        return (tf.reduce_sum(line.w * x) + line.b - y) ** 2

    value, gradient = func.value_and_grad(loss)(line, tf.ones(2), 1.0)
    assert float(value) == 6.25
    by_shape = {tuple(g.shape): g.numpy() for g in gradient}
    assert len(gradient) == 2
    np.testing.assert_allclose(by_shape[()], 5.0)
    np.testing.assert_allclose(by_shape[2,], [5.0, 5.0])
    rows = func.per_example_grad(loss)(line, tf.ones((3, 2)), tf.constant([1.0, 2.0, 3.0]))
    assert sorted(tuple(g.shape) for g in rows) == [(3,), (3, 2)]
    several = func.grad(lambda v: v[0] * v[1])([tf.Variable(2.0), tf.Variable(3.0)])
    assert [float(g) for g in several] == [3.0, 2.0]
    nested = func.grad(lambda p, x: p["a"][0] * x + p["b"] * 3.0)({"a": [2.0], "b": 1.0}, 5.0)
    assert float(nested["a"][0]) == 5.0
    assert float(nested["b"]) == 3.0


def test_aux_is_passed_on():
    def function(x):
        return cubes(x), {"norm": tf.norm(x)}

    gradient, aux = func.grad(function, has_aux=True)(X)
    (value, again), same = func.value_and_grad(function, has_aux=True)(X)
    np.testing.assert_allclose(gradient, same)
    assert float(aux["norm"]) == float(again["norm"])
    assert float(value) == 36.0
    value, pull_back, aux = func.vjp(function, X, has_aux=True)
    np.testing.assert_allclose(pull_back(tf.constant(1.0))[0], gradient)
    assert func.jacrev(function, has_aux=True)(X)[1].keys() == {"norm"}
    assert func.jacfwd(function, has_aux=True)(X)[1].keys() == {"norm"}
    assert func.jvp(function, (X,), (X,), has_aux=True)[2].keys() == {"norm"}


def test_a_pull_back_can_be_called_again():
    value, pull_back = func.vjp(lambda a, b: (a * b, a + b), 3.0, 4.0)
    assert [float(v) for v in value] == [12.0, 7.0]
    assert [float(g) for g in pull_back((1.0, 0.0))] == [4.0, 3.0]
    assert [float(g) for g in pull_back((0.0, 1.0))] == [1.0, 1.0]


TRANSFORMS = {
    "grad": func.grad(cubes),
    "hessian": func.hessian(cubes),
    "hvp": lambda x: func.hvp(cubes, x, x),
    "jacfwd": func.jacfwd(lambda x: x * x[0]),
    "vmap of grad": lambda x: func.vmap(func.grad(lambda y: y**2))(x),
    "grad of vmap": func.grad(lambda x: tf.reduce_sum(func.vmap(tf.sin)(x))),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_work_inside_functions(name):
    want = TRANSFORMS[name](X)
    compiled = tf.function(TRANSFORMS[name])
    for _ in range(3):
        np.testing.assert_allclose(compiled(X), want, rtol=1e-6)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_work_on_xla(name):
    pytest.importorskip("jax")
    compiled = tf.function(TRANSFORMS[name], jit_compile=True)
    np.testing.assert_allclose(compiled(X), TRANSFORMS[name](X), rtol=1e-5)


def test_transforms_of_functions_and_under_tapes():
    compiled = tf.function(cubes)
    np.testing.assert_allclose(func.grad(compiled)(X), [3.0, 12.0, 27.0])
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = func.grad(cubes)(X)
    np.testing.assert_allclose(tape.gradient(y, X), [6.0, 12.0, 18.0])


def test_wrong_uses_are_errors():
    with pytest.raises(ValueError, match="must return a scalar"):
        func.grad(lambda x: x)(X)
    with pytest.raises(TypeError, match="must be floating"):
        func.grad(lambda x: x)(3)
    with pytest.raises(ValueError, match="positions of positional arguments"):
        func.grad(lambda x: x, argnums=1)(1.0)
    with pytest.raises(TypeError, match="must return \\(value, aux\\)"):
        func.grad(lambda x: x, has_aux=True)(1.0)


def test_an_argument_without_influence_has_zeros():
    np.testing.assert_array_equal(func.grad(lambda x: tf.constant(1.0))(X), np.zeros(3))


@pytest.mark.parametrize("transform", ["hvp", "jacrev", "hessian"])
def test_lookups_in_a_variable_have_dense_results(transform):
    table = tf.Variable([1.0, 2.0])

    def f(table):
        return tf.reduce_sum(tf.gather(table, [0, 0]) ** 3)

    if transform == "hvp":
        got = func.hvp(f, table, tf.constant([1.0, 0.0]))
        want = [12.0, 0.0]
    else:
        got = getattr(func, transform)(f)(table)
        want = [6.0, 0.0] if transform == "jacrev" else [[12.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(got.numpy(), want)


def test_hvp_names_itself_in_errors():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="hvp: a cotangent must have the shape"):
        func.hvp(lambda a: tf.reduce_sum(a**2), x, tf.ones([3]))


@pytest.mark.parametrize(
    "body",
    [
        lambda x: tf.reduce_sum(x**3),
        lambda x: x**2 * x[0],
        lambda x: {"cubes": x**3, "sum": tf.reduce_sum(x**2)},
        lambda x: tf.reduce_sum(tf.gather(x, [0, 0, 2]) ** 3),
        lambda x: tf.constant([1.0, 2.0]),
    ],
    ids=["scalar", "vector", "nested", "lookup", "unconnected"],
)
def test_a_tensor_and_a_structure_of_it_have_the_same_derivatives(body):
    direction = tf.constant([1.0, -2.0, 0.5])

    def nested(box):
        return body(box["x"])

    want = tf.nest.flatten(func.jacrev(nested)({"x": X}))
    for got, expected in zip(tf.nest.flatten(func.jacrev(body)(X)), want, strict=True):
        np.testing.assert_allclose(got, expected)
    want = tf.nest.flatten(func.hessian(nested)({"x": X}))
    for got, expected in zip(tf.nest.flatten(func.hessian(body)(X)), want, strict=True):
        np.testing.assert_allclose(got, expected)
    want = tf.nest.flatten(func.jvp(nested, ({"x": X},), ({"x": direction},)))
    for primals, tangents in [(X, direction), ((X,), (direction,)), ([X], [direction])]:
        got = tf.nest.flatten(func.jvp(body, primals, tangents))
        for one, expected in zip(got, want, strict=True):
            np.testing.assert_allclose(one, expected)
    value, pull_back = func.vjp(body, X)
    weights = tf.nest.map_structure(tf.ones_like, value)
    pull_nested = func.vjp(nested, {"x": X})[1]
    for _ in range(2):  # a pull-back can be called again
        np.testing.assert_allclose(
            tf.convert_to_tensor(pull_back(weights)[0]),
            tf.convert_to_tensor(pull_nested(weights)[0]["x"]),
        )


@pytest.mark.parametrize("body", [cubes, lambda x: tf.reduce_sum(tf.gather(x, [0, 0, 2]) ** 3)])
def test_hvp_returns_the_structure_of_the_primals(body):
    direction = tf.constant([1.0, -2.0, 0.5])
    want = tf.linalg.matvec(func.hessian(body)(X), direction)
    np.testing.assert_allclose(func.hvp(body, X, direction), want)
    got = func.hvp(body, (X,), (direction,))
    assert type(got) is tuple
    np.testing.assert_allclose(got[0], want)
    got = func.hvp(lambda box: body(box["x"]), {"x": X}, {"x": direction})
    np.testing.assert_allclose(got["x"], want)


def test_hessian_calls_the_function_once():
    calls = []

    def function(x):
        calls.append(x)
        return cubes(x)

    func.hessian(function)(X)
    assert len(calls) == 1
