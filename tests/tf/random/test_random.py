"""tf.random against numbers that TensorFlow 2.21 drew."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.jit import specialization
from gradtape.ops.random import stateless as primitives

UNIFORM, NORMAL, TRUNCATED = "stateless_uniform", "stateless_normal", "stateless_truncated_normal"

# samples of shape [6] for the seed [7, -3]
DRAWN = {
    (UNIFORM, "float16"): [
        0.5888671875, 0.740234375, 0.4453125,
        0.67578125, 0.5302734375, 0.3798828125,
    ],
    (NORMAL, "float16"): [
        0.5146484375, 1.18359375, 0.61376953125,
        0.453125, 0.931640625, -0.433837890625,
    ],
    (TRUNCATED, "float16"): [
        0.5146484375, 1.18359375, 0.61376953125,
        0.453125, 1.0126953125, -0.017791748046875,
    ],
    (UNIFORM, "bfloat16"): [0.7109375, 0.921875, 0.5625, 0.40625, 0.2421875, 0.0390625],
    (NORMAL, "bfloat16"): [0.515625, 1.1875, 0.61328125, 0.453125, 0.9296875, -0.43359375],
    (TRUNCATED, "bfloat16"): [0.515625, 1.1875, 0.61328125, 0.453125, 1.015625, -0.017822265625],
    (UNIFORM, "float32"): [
        0.4346421957015991, 0.06527590751647949, 0.7476129531860352,
        0.14876413345336914, 0.5897864103317261, 0.31938230991363525,
    ],
    (NORMAL, "float32"): [
        0.5147376656532288, 1.1838536262512207, 0.6135525703430176,
        0.4530927538871765, 0.9315036535263062, -0.4339245855808258,
    ],
    (TRUNCATED, "float32"): [
        0.5147376656532288, 1.1838536262512207, 0.6135525703430176,
        0.4530927538871765, 1.012413501739502, -0.01778951659798622,
    ],
    (UNIFORM, "float64"): [
        0.47713778180121613, 0.9809041063278245, 0.7182915943104444,
        0.42682149360606525, 0.15280997415921727, 0.9123433266800502,
    ],
    (NORMAL, "float64"): [
        -0.1456107780640622, 1.2077654819729078, 0.36099545311012377,
        -0.7290004301586933, -1.014400684477348, 1.6516995817247957,
    ],
    (TRUNCATED, "float64"): [
        -0.1456107780640622, 1.2077654819729078, -0.28848604561432045,
        -0.14262208278233368, 0.6654110226412603, -0.1596591233320305,
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), DRAWN)
def test_stateless_floats_are_tensorflows(name, dtype):
    drawn = getattr(tf.random, name)([6], [7, -3], dtype=dtype)
    assert drawn.dtype.name == dtype
    # TensorFlow's C library may round logarithm and sine differently.
    ulp = 1 if dtype in ("float16", "bfloat16") else 2
    expected = np.array(DRAWN[name, dtype]).astype(drawn.dtype.as_numpy_dtype)
    if name == UNIFORM or ulp == 1:
        np.testing.assert_array_equal(drawn.numpy().astype("float64"), expected.astype("float64"))
    else:
        np.testing.assert_array_max_ulp(drawn.numpy(), expected, ulp)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("int32", [2125963867, 973626102, 694137288]),
        ("int64", [4181692268747924059, -9145954649354817080, 6028316063551946271]),
        ("uint32", [2125963867, 973626102, 694137288]),
        ("uint64", [4181692268747924059, 9300789424354734536, 6028316063551946271]),
    ],
)
def test_stateless_integers_over_their_whole_range_are_tensorflows(dtype, expected):
    drawn = tf.random.stateless_uniform([3], [7, -3], None, None, dtype=dtype)
    assert drawn.numpy().tolist() == expected


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("int32", [92, 52, 28, 18, 97, 19]), ("int64", [89, 36, 46, 58, 82, 71])],
)
def test_stateless_integers_in_a_range_are_tensorflows(dtype, expected):
    assert (
        tf.random.stateless_uniform([6], [7, -3], -5, 100, dtype=dtype).numpy().tolist() == expected
    )


def test_stateful_ops_without_a_seed_follow_the_global_one_as_in_tensorflow():
    tf.random.set_seed(42)
    close = {"rtol": 3e-7}
    np.testing.assert_allclose(
        tf.random.uniform([2]), [0.6645621061325073, 0.44100677967071533], **close
    )
    np.testing.assert_allclose(
        tf.random.normal([2]), [0.08422458171844482, -0.8609037399291992], **close
    )
    np.testing.assert_allclose(
        tf.random.truncated_normal([2]), [-0.5590973496437073, -0.5347213745117188], **close
    )
    assert tf.random.uniform([3], 0, 100, dtype="int32").numpy().tolist() == [94, 90, 44]
    assert tf.random.shuffle(np.arange(6)).numpy().tolist() == [3, 1, 4, 0, 5, 2]
    np.testing.assert_allclose(
        tf.random.uniform([2]), [0.9583183526992798, 0.016808390617370605], **close
    )


def test_a_seeded_op_continues_its_stream_as_in_tensorflow():
    tf.random.set_seed(42)
    uniform = [tf.random.uniform([2], seed=9).numpy().tolist() for _ in range(3)]
    assert uniform == [
        [0.7960740327835083, 0.4981578588485718],
        [0.9145994186401367, 0.3531014919281006],
        [0.11757445335388184, 0.5250887870788574],
    ]
    order = [tf.random.shuffle(np.arange(6), seed=9).numpy().tolist() for _ in range(3)]
    assert order == [[5, 3, 0, 4, 1, 2], [3, 1, 4, 2, 5, 0], [2, 0, 1, 5, 4, 3]]


def test_without_any_seed_numbers_differ():
    tf.random.set_seed(None)
    a, b = tf.random.uniform([4]).numpy(), tf.random.uniform([4]).numpy()
    assert (a != b).all()


def test_an_op_inside_recompute_grad_draws_the_same_numbers_again():
    for seed in (None, 3):
        tf.random.set_seed(seed)
        x = tf.Variable([1.0, 2.0, 3.0])
        seen = []

        @tf.recompute_grad
        def dropped(x, seen=seen):
            noise = tf.random.uniform([3]) + tf.random.normal([3], seed=5)
            seen.append(noise.numpy())
            return x * noise

        with tf.GradientTape() as tape:
            y = dropped(x)
            tf.random.uniform([3])  # a draw in between has no effect on the recomputation
        after = tf.random.uniform([3], seed=1).numpy()
        g = tape.gradient(y, x).numpy()
        assert len(seen) == 2
        np.testing.assert_array_equal(seen[0], seen[1])
        np.testing.assert_array_equal(g, seen[0])
        assert (tf.random.uniform([3], seed=1).numpy() != after).all()


def test_gradients_flow_to_the_bounds_but_not_through_shuffle():
    low, high = tf.Variable(0.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        drawn = tf.random.stateless_uniform([5], [1, 2], low, high)
    unit = tf.random.stateless_uniform([5], [1, 2]).numpy()
    for g, expected in zip(
        tape.gradient(drawn, [low, high]), [(1 - unit).sum(), unit.sum()], strict=True
    ):
        np.testing.assert_allclose(g, expected, rtol=1e-6)
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.random.shuffle(x) * [1.0, 10.0, 100.0]
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("shape", [[], [0], [2, 0, 3], [2, 3]])
def test_results_have_the_requested_shape(shape):
    for draw in (tf.random.uniform, tf.random.normal, tf.random.truncated_normal):
        assert draw(shape).shape == shape
    assert tf.random.uniform(shape, 0, 3, dtype="int64").shape == shape


def test_bounds_hold_in_large_draws():
    truncated = tf.random.stateless_truncated_normal([100_000], [1, 2]).numpy()
    assert np.abs(truncated).max() < 2
    assert abs(truncated.std() - 0.8796) < 0.01
    integers = tf.random.stateless_uniform([100_000], [1, 2], -3, 4, dtype="int32").numpy()
    assert set(integers.tolist()) == set(range(-3, 4))


@pytest.mark.parametrize(
    ("error", "draw"),
    [
        (tf.errors.InvalidArgumentError, lambda: tf.random.stateless_uniform([2], [1])),
        (tf.errors.InvalidArgumentError, lambda: tf.random.stateless_uniform([2], [1.0, 2.0])),
        (tf.errors.InvalidArgumentError, lambda: tf.random.uniform([2], 5, 1, dtype="int32")),
        (tf.errors.InvalidArgumentError, lambda: tf.random.uniform([-1])),
        (tf.errors.InvalidArgumentError, lambda: tf.random.normal([2], dtype="complex64")),
        (tf.errors.InvalidArgumentError, lambda: tf.random.normal([2], [1.0, 2.0, 3.0])),
        (ValueError, lambda: tf.random.uniform([2], dtype="int32")),
        (ValueError, lambda: tf.random.uniform([2], dtype="uint8")),
        (ValueError, lambda: tf.random.stateless_uniform([2], [1, 2], 0, 5, dtype="uint32")),
        (ValueError, lambda: tf.random.stateless_uniform([2], [1, 2], None, 5, dtype="int32")),
        (ValueError, lambda: tf.random.stateless_normal([2], [1, 2], alg="dice")),
        (TypeError, lambda: tf.random.normal([2], dtype="int32")),
        (TypeError, lambda: tf.random.uniform([2], 0, 1.5, dtype="int32")),
    ],
)
def test_bad_input_gets_tensorflows_exception_class(error, draw):
    with pytest.raises(error):
        draw()


def test_large_draws_without_any_seed_follow_the_same_distribution():
    tf.random.set_seed(None)
    normal, uniform = tf.random.normal([50_000]), tf.random.uniform([50_000], 1.0, 3.0)
    assert normal.dtype == uniform.dtype == tf.float32
    assert abs(normal.numpy().mean()) < 0.03
    assert abs(normal.numpy().std() - 1) < 0.03
    assert 1 <= uniform.numpy().min() < 1.01
    assert 2.99 < uniform.numpy().max() < 3
    assert tf.random.normal([3000]).numpy()[0] != tf.random.normal([3000]).numpy()[0]
    tf.random.set_seed(1)
    seeded = tf.random.normal([3000])
    tf.random.set_seed(1)
    assert seeded.numpy().tolist() == tf.random.normal([3000]).numpy().tolist()


def test_setting_the_seed_restarts_the_streams_of_a_compiled_function_as_in_tensorflow():
    @tf.function
    def draw():
        return tf.random.uniform([2]), tf.random.uniform([2]), tf.random.uniform([2], seed=5)

    first = [[0.81269646, 0.07857466], [0.05554414, 0.01869845], [0.195606, 0.02986085]]
    second = [[0.8489425, 0.09832478], [0.5773283, 0.29636776], [0.28997242, 0.18651283]]
    for _ in range(2):
        tf.random.set_seed(1)
        np.testing.assert_allclose([t.numpy() for t in draw()], first, rtol=1e-6)
        np.testing.assert_allclose([t.numpy() for t in draw()], second, rtol=1e-6)


def test_a_random_op_in_a_loop_over_a_tensor_continues_its_stream_as_in_tensorflow():
    @tf.function
    def draw(logits):
        drawn = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for t in tf.range(6):
            drawn = drawn.write(t, tf.random.categorical(logits, 1, seed=13)[0, 0])
        return drawn.stack()

    tf.random.set_seed(3)
    expected = [[0, 3, 4, 2, 3, 3], [2, 2, 2, 4, 4, 3], [4, 3, 0, 1, 1, 1]]
    assert [draw(tf.zeros([1, 5])).numpy().tolist() for _ in range(3)] == expected


def test_the_body_of_a_loop_over_a_tensor_numbers_its_random_ops_separately():
    @tf.function
    def draw(n):
        before = tf.random.normal([])
        inside = []
        for _ in tf.range(n):
            inside += [tf.random.normal([]), tf.random.uniform([])]
        return [before, *inside, tf.random.normal([])]

    tf.random.set_seed(3)
    inside = [-1.864718, 0.77806914, -0.42297816, 0.25704932, -0.412293, 0.59841776]
    expected = [-1.864718, *inside, -0.023535881]
    np.testing.assert_allclose(draw(tf.constant(3)), expected, rtol=1e-6)
    first, *_, last = draw(tf.constant(3))
    np.testing.assert_allclose([first, last], [-0.42297816, -0.8576558], rtol=1e-6)


def test_branches_in_a_loop_over_a_tensor_keep_their_own_streams():
    @tf.function
    def draw(n):
        drawn = []
        for i in tf.range(n):
            if i % 2 == 0:
                drawn.append(tf.random.normal([], seed=1))
            else:
                drawn.append(tf.random.uniform([], seed=2))
        return drawn

    tf.random.set_seed(3)
    drawn = [float(t) for t in draw(tf.constant(6))]
    assert len(set(drawn)) == 6


def test_ops_of_a_python_loop_each_have_a_stream():
    @tf.function
    def draw():
        return [tf.random.normal([], seed=4) for _ in range(3)]

    tf.random.set_seed(3)
    np.testing.assert_allclose(draw(), [0.28962207] * 3, rtol=1e-6)
    np.testing.assert_allclose(draw(), [0.18132125] * 3, rtol=1e-6)


def test_a_call_that_creates_variables_draws_once():
    class Scaled(tf.Module):
        scale = None

        @tf.function
        def __call__(self):
            if self.scale is None:
                self.scale = tf.Variable(1.0)
            return tf.random.normal([2], seed=3) * self.scale, tf.random.normal([2])

    tf.random.set_seed(3)
    scaled = Scaled()
    first = [[-1.5072867, -0.8529847], [-1.864718, 0.802645]]
    second = [[-0.04068583, 0.03799216], [-0.412293, -0.25173962]]
    np.testing.assert_allclose(scaled(), first, rtol=1e-6)
    np.testing.assert_allclose(scaled(), second, rtol=1e-6)


def test_a_function_that_falls_back_to_python_continues_its_streams(monkeypatch):
    monkeypatch.setattr(specialization, "MAX_PATHS", 3)  # the number of traced paths that are kept
    logits = tf.zeros([1, 5])

    @tf.function
    def until():
        drawn = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for t in tf.range(30):
            one = tf.random.categorical(logits, 1, seed=13)[0, 0]
            drawn = drawn.write(t, one)
            if one == 3:
                break
        return drawn.stack()

    @tf.function
    def single():
        return tf.random.categorical(logits, 1, seed=13)[0, 0]

    tf.random.set_seed(3)
    runs = [until().numpy().tolist() for _ in range(12)]
    assert len({len(run) for run in runs}) > 4
    tf.random.set_seed(3)
    assert [one for run in runs for one in run] == [int(single()) for run in runs for _ in run]


def test_large_draws_without_any_seed_never_reach_the_upper_bound(monkeypatch):
    class Largest:
        def random(self, shape, dtype):
            return np.full(shape, 1 - np.finfo(dtype).epsneg, dtype)

    monkeypatch.setattr(primitives, "make_numpy_generator", lambda key, counter: Largest())
    tf.random.set_seed(None)
    assert float(tf.reduce_max(tf.random.uniform([50_000], 1.0, 3.0))) < 3
