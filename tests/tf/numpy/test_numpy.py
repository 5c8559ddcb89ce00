"""tf.experimental.numpy returns NumPy's results, as tensors with gradients."""

import numpy as np
import pytest

import gradtape as tf

tnp = tf.experimental.numpy
X = np.random.default_rng(1).uniform(0.1, 0.9, (3, 3))

CALLS = [
    "abs(x)",
    "square(x)",
    "arcsin(x)",
    "exp2(x)",
    "log10(x)",
    "sinc(x)",
    "cbrt(x)",
    "sign(x)",
    "around(x,2)",
    "add(x,1)",
    "divide(3,x)",
    "mod(x,0.25)",
    "power(x,2)",
    "hypot(x,x)",
    "logaddexp(x,1.0)",
    "heaviside(x,0.5)",
    "sum(x,axis=0)",
    "prod(x)",
    "mean(x,axis=1)",
    "var(x,ddof=1)",
    "std(x,axis=0)",
    "ptp(x,axis=1)",
    "cumsum(x)",
    "average(x,axis=0,weights=x[0])",
    "argmax(x)",
    "sort(x,axis=0)",
    "argsort(x)",
    "nansum(x)",
    "diff(x,n=2)",
    "reshape(x,(9,),order='F')",
    "transpose(x)",
    "moveaxis(x,0,1)",
    "swapaxes(x,0,1)",
    "ravel(x)",
    "concatenate([x,x],axis=1)",
    "stack([x,x])",
    "hstack([x,x])",
    "vstack([x,x])",
    "dstack([x,x])",
    "tile(x,(2,1,1))",
    "repeat(x,2,axis=1)",
    "roll(x,1)",
    "flip(x)",
    "rot90(x)",
    "pad(x,((1,1),(0,2)),'constant')",
    "where(x>0.5,x,0)",
    "select([x>0.7,x>0.3],[x,2*x],0.0)",
    "take(x,[0,2],axis=1)",
    "diag(x)",
    "diagonal(x,1)",
    "tril(x)",
    "triu(x,1)",
    "trace(x)",
    "vander(x[0])",
    "kron(x,x[0])",
    "dot(x,x[0])",
    "matmul(x[0],x)",
    "inner(x,x)",
    "outer(x[0],x[1])",
    "vdot(x,x)",
    "cross(x,x[0])",
    "tensordot(x,x,1)",
    "einsum('ij,jk->ik',x,x)",
    "polyval(x[0],x[1])",
    "zeros((2,3))",
    "full((2,),3)",
    "eye(2,3)",
    "arange(1,7,2)",
    "linspace(0,1,5)",
    "tri(3)",
    "compress([True,False,True],x,axis=0)",
    "isclose(x,x)",
    "array([1,2,3])",
    "array([1.5])",
    "atleast_3d(x)",
    "take_along_axis(x,np.array([[0],[1],[2]]),1)",
    "geomspace(1,8,4)",
    "clip(x,0.2,0.5)",
]


@pytest.mark.parametrize("call", CALLS)
def test_values_and_dtypes_are_those_of_numpy(call):
    got = eval(f"tnp.{call}", {"tnp": tnp, "x": tf.constant(X), "np": np})
    want = np.asarray(eval(f"np.{call}", {"np": np, "x": X}))
    assert isinstance(got, tf.Tensor)
    assert got.dtype.as_numpy_dtype == want.dtype
    np.testing.assert_allclose(got, want)


def test_fix_rounds_towards_zero():  # NumPy deprecates its own `fix` in favour of `trunc`
    x = np.array([-2.5, -0.5, 0.0, 0.5, 2.5])
    np.testing.assert_array_equal(tnp.fix(x), np.trunc(x))


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        (tf.constant(1), tf.constant(2.0), tf.float64),
        (tf.constant(1.0), 1.5, tf.float32),
        (tf.constant(1), 1.5, tf.float64),
        (tf.constant(1, tf.int8), tf.constant(1, tf.uint8), tf.int16),
        (1, 2, tf.int64),
        (tf.constant(1.0), tf.constant(2.0, tf.float64), tf.float64),
    ],
)
def test_operands_are_promoted_as_in_numpy(a, b, dtype):
    assert tnp.add(a, b).dtype == dtype
    assert tnp.result_type(a, b) == dtype


def test_gradients_flow():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sum(tnp.sinc(x) + tnp.take_along_axis(x, tnp.argsort(x), 1))
    slope = (np.sinc(X + 1e-6) - np.sinc(X - 1e-6)) / 2e-6 + 1
    np.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-6)


def test_random_numbers_are_float64_and_repeat_with_the_seed():
    tnp.random.seed(3)
    first = tnp.random.rand(4)
    tnp.random.seed(3)
    assert first.dtype == tf.float64
    np.testing.assert_array_equal(first, tnp.random.rand(4))
    assert tnp.random.randint(5, size=10).dtype == tf.int64
