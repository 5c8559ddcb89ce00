"""tf.random.Generator: TensorFlow's states and numbers."""

import gc

import numpy as np
import pytest

import gradtape as tf

Generator = tf.random.Generator


@pytest.mark.parametrize(
    ("seed", "state"),
    [
        (1, [1, 0, 0]),
        (-1, [-1, -1, -1]),
        (2**70 + 5, [5, 64, 0]),
        (2**64 - 1, [-1, 0, 0]),
        ([1, 2], [0, 1, 2]),
        ([1, 2, 3, 4], [1, 2, 3]),
        (np.uint64(2**64 - 1), [0, 0, -1]),
    ],
)
def test_a_seed_becomes_tensorflows_state(seed, state):
    assert Generator.from_seed(seed).state.numpy().tolist() == state
    assert tf.random.create_rng_state(seed, "philox").numpy().tolist() == state


def test_each_draw_advances_the_state_by_256_blocks_per_number():
    g = Generator.from_seed(7)
    for draw, low in [
        (lambda: g.uniform([3]), 775),
        (lambda: g.normal([2, 2]), 1799),
        (lambda: g.uniform([3], dtype=tf.float64), 2567),
        (lambda: g.uniform([], 0, 10, tf.int32), 2823),
        (lambda: g.uniform([0]), 2823),
        (lambda: g.truncated_normal([5]), 4103),
        (lambda: g.uniform_full_int([5]), 5383),
        (lambda: g.binomial([2], counts=[5.0, 6.0], probs=[0.5, 0.2]), 107783),
    ]:
        draw()
        assert g.state.numpy().tolist() == [low, 0, 0]
    assert g.make_seeds(3).numpy().tolist() == [
        [-4153356557754949741, 8712834960486472541, -1586686430879347369],
        [0, 0, 0],
    ]
    assert [s.state.numpy().tolist() for s in g.split(2)] == [
        [0, 0, -2174102143232493515],
        [0, 0, 1727676896614458350],
    ]
    assert g.skip(3).numpy().tolist() == [109063, 0, 0]
    assert g.state.numpy().tolist() == [109831, 0, 0]


def test_numbers_are_tensorflows():
    g = Generator.from_seed(1)
    assert (
        g.uniform([3]).numpy().tolist() == np.float32([0.78749514, 0.3906511, 0.29263055]).tolist()
    )
    g = Generator.from_seed(1)
    assert g.binomial([4], counts=10.0, probs=0.5).numpy().tolist() == [5, 5, 7, 3]
    assert g.state.numpy().tolist() == [89601, 0, 0]
    drawn = g.binomial([2, 3], counts=[10.0, 5, 3], probs=[0.5, 0.4, 0.3])
    assert drawn.numpy().tolist() == [[6, 0, 3], [4, 3, 1]]


def test_the_counter_carries_over():
    g = Generator.from_state([-1, 2, 3], alg="philox")
    g.skip(1)
    assert g.state.numpy().tolist() == [255, 3, 3]


def test_resetting_and_copying():
    g = Generator.from_seed(9)
    g.reset_from_key_counter(5, [6, 7])
    assert g.state.numpy().tolist() == [6, 7, 5]
    copy = Generator(copy_from=g)
    g.reset([3, 4, 5])
    assert g.state.numpy().tolist() == [3, 4, 5]
    assert g.key == 5
    assert copy.state.numpy().tolist() == [6, 7, 5]
    g.reset_from_seed(9)
    assert g.state.numpy().tolist() == [9, 0, 0]
    assert g.algorithm == 1
    assert "StateVar:0" in repr(g.state)
    assert not g.state.trainable


def test_gradients_flow_to_mean_and_deviation_only():
    g, mean, deviation = Generator.from_seed(1), tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        drawn = g.normal([4], mean=mean, stddev=deviation)
    slopes = tape.gradient(drawn, [mean, deviation])
    assert slopes[0] == 4.0
    np.testing.assert_allclose(slopes[1], np.sum((drawn.numpy() - 1) / 2), rtol=1e-5)


def test_the_global_generator():
    before = tf.random.get_global_generator()
    try:
        tf.random.set_global_generator(Generator.from_seed(3))
        assert tf.random.get_global_generator().uniform([2]).numpy().tolist() == [
            np.float32(0.13229859),
            np.float32(0.5348098),
        ]
    finally:
        tf.random.set_global_generator(before)
    a, b = (Generator.from_non_deterministic_state() for _ in range(2))
    assert a.state.numpy().tolist() != b.state.numpy().tolist()


def test_reading_an_element_spec_does_not_advance_a_generator():
    g = Generator.from_seed(1)
    dataset = tf.data.Dataset.range(1).map(lambda _: g.normal([2]))
    assert dataset.element_spec == tf.TensorSpec((2,), tf.float32)
    assert g.state.numpy().tolist() == [1, 0, 0]


def test_a_generator_without_references_is_freed():
    from gradtape.state.random.generator import LIVE_GENERATORS

    gc.collect()
    before = len(LIVE_GENERATORS)
    g = Generator.from_seed(1)
    assert len(LIVE_GENERATORS) == before + 1
    del g
    gc.collect()
    assert len(LIVE_GENERATORS) == before


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (ValueError, lambda: Generator()),
        (ValueError, lambda: Generator(state=[1, 2], alg="philox")),
        (ValueError, lambda: Generator.from_seed(1, alg="dice")),
        (tf.errors.UnimplementedError, lambda: Generator.from_seed(1, alg="threefry")),
        (TypeError, lambda: Generator.from_seed(1.5)),
        (ValueError, lambda: Generator.from_seed(1).uniform([3], dtype=tf.int32)),
        (
            tf.errors.InvalidArgumentError,
            lambda: Generator.from_seed(1).uniform_full_int([3], dtype=tf.int8),
        ),
        (
            tf.errors.InvalidArgumentError,
            lambda: Generator.from_seed(1).binomial([2], [1.0, 2.0, 3.0], 0.5),
        ),
    ],
)
def test_invalid_arguments_raise(error, make):
    with pytest.raises(error):
        make()


def test_states_of_threefry():
    assert tf.random.create_rng_state([12, 34], "threefry").numpy().tolist() == [12, 34]
    assert tf.random.create_rng_state(1, "threefry").numpy().tolist() == [1, 0]
