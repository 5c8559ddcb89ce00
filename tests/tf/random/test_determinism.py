"""`enable_op_determinism`: random ops need a seed. Expected errors are TensorFlow 2.21's."""

import pytest

import gradtape as tf
from gradtape.tf.config.experimental import disable_op_determinism, is_op_determinism_enabled


@pytest.fixture
def deterministic():
    tf.random.set_seed(None)
    tf.config.experimental.enable_op_determinism()
    yield
    disable_op_determinism()


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.uniform([2]),
        lambda: tf.random.shuffle([1, 2]),
        lambda: tf.random.categorical([[1.0, 2.0]], 3),
        lambda: tf.random.gamma([1], 1.0),
        lambda: tf.nn.dropout(tf.ones(3), 0.5),
        lambda: list(tf.data.Dataset.range(3).shuffle(3)),
        tf.function(lambda: tf.random.normal([2])),
        tf.random.Generator.from_non_deterministic_state,
    ],
)
def test_ops_without_a_seed_raise(draw):
    assert is_op_determinism_enabled()
    with pytest.raises(RuntimeError, match="determinism is enabled"):
        draw()


@pytest.mark.usefixtures("deterministic")
def test_ops_with_a_seed_run():
    tf.random.uniform([2], seed=1)
    tf.random.stateless_uniform([2], [1, 2])
    tf.function(lambda: tf.random.normal([2], seed=3))()
    tf.random.set_seed(1)
    tf.random.uniform([2])


def test_determinism_can_be_disabled():
    assert not is_op_determinism_enabled()
    tf.random.uniform([2])
