"""tf.compat: TensorFlow 1 names in eager programs; expected values are from TensorFlow 2.21."""

import logging

import numpy as np
import pytest

import gradtape as tf
from gradtape.tf.compat.v1.adapter import (
    INCOMPATIBLE_NAMES,
    MOVED_NAMES,
    V1_SIGNATURES,
    resolve_name,
)
from gradtape.tf.compat.v1.global_step import GlobalStep

v1 = tf.compat.v1
X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=1e-5)


@pytest.fixture
def step(monkeypatch):
    monkeypatch.setattr(GlobalStep, "variable", None)
    variable = v1.train.get_or_create_global_step()
    variable.assign(7)
    return variable


def test_text_and_bytes():
    assert tf.compat.as_bytes("ä") == b"\xc3\xa4"
    assert tf.compat.as_text(b"\xc3\xa4") == tf.compat.as_str("ä") == "ä"
    assert tf.compat.as_str_any(3) == "3"
    with pytest.raises(TypeError, match="expected binary or unicode string"):
        tf.compat.as_bytes(3)
    with pytest.raises(TypeError, match="expected binary or unicode string"):
        tf.compat.as_text(3)


def test_v2_is_gradtape():
    assert tf.compat.v2.constant is tf.constant


def test_enabling_eager_execution_changes_nothing():
    v1.enable_eager_execution()
    v1.enable_v2_behavior()
    assert v1.executing_eagerly()
    assert v1.GradientTape is tf.GradientTape
    assert v1.global_variables_initializer() is None


@pytest.mark.parametrize(
    "name", ["Session", "InteractiveSession", "disable_v2_behavior", "disable_eager_execution"]
)
def test_sessions_and_graph_switches_raise_when_called(name):
    with pytest.raises(NotImplementedError, match=rf"tf\.compat\.v1\.{name}\. .*tf\.function"):
        getattr(v1, name)()


@pytest.mark.parametrize("name", ["get_variable", "make_template"])
def test_functions_of_variable_stores_raise_when_called(name):
    with pytest.raises(NotImplementedError, match=rf"tf\.compat\.v1\.{name}\. .*tf\.Variable"):
        getattr(v1, name)("weight")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("placeholder", "parameter of a Python function"),
        ("train.AdamOptimizer", r"tf\.keras\.optimizers\.Adam"),
        ("train.Saver", r"tf\.train\.Checkpoint"),
        ("layers", r"tf\.keras\.layers"),
        ("nn.dynamic_rnn", r"tf\.keras\.layers\.RNN"),
        ("nn.pool", r"Use tf\.nn\.pool"),
        ("nothing_like_it", "gradtape check FILE"),
    ],
)
def test_the_error_of_a_missing_name_names_the_replacement(name, instead):
    def fetch():
        found = v1
        for part in name.split("."):
            found = getattr(found, part)

    with pytest.raises(AttributeError, match=instead):
        fetch()


def test_tensorflow_1_parameters():
    close(v1.reduce_sum(X, reduction_indices=1), [3, 7])
    close(v1.reduce_mean(X, 0, True), [[2, 3]])
    close(v1.math.reduce_max(X, axis=1, keep_dims=True), [[2], [4]])
    close(v1.argmax(X, dimension=1), [1, 1])
    close(v1.squeeze(X[None], squeeze_dims=[0]), X)
    close(v1.gather(X, [1], None, None, 1), [[2], [4]])
    close(v1.nn.softmax(X, dim=0)[0], [0.11920291, 0.11920291])
    close(v1.nn.moments(X, [0], keep_dims=True)[0], [[2, 3]])
    assert v1.shape(X, out_type=tf.int64).dtype == tf.int64
    assert v1.expand_dims(X, dim=0).shape == (1, 2, 2)
    image, taps = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])
    found = v1.nn.conv2d(image, filter=taps, strides=[1, 1, 1, 1], padding="VALID")
    close(found, tf.fill([1, 3, 3, 1], 4.0))
    with pytest.raises(TypeError, match="unexpected argument 'nothing'"):
        v1.reduce_sum(X, nothing=1)
    with pytest.raises(TypeError, match="at most"):
        v1.argmax(X, 1, None, None, tf.int64, 6)


def test_names_that_moved_to_other_namespaces():
    close(v1.log(X), tf.math.log(X))
    close(v1.matrix_inverse(X), tf.linalg.inv(X))
    close(v1.div(7, 2), 3)
    close(v1.div(X, 2.0), X / 2)
    close(v1.to_int32(X), [[1, 2], [3, 4]])
    v1.set_random_seed(3)
    first = v1.random_normal([3]).numpy()
    tf.random.set_seed(3)
    assert tf.random.normal([3]).numpy().tolist() == first.tolist()


def test_where_picks_rows_and_does_not_broadcast():
    close(v1.where([True, False], X, -X), [[1, 2], [-3, -4]])
    close(v1.where(X > 3), [[1, 1]])
    with pytest.raises(ValueError, match=r"Use tf\.where, which broadcasts"):
        v1.where(X > 2, X, tf.constant(1.0))
    with pytest.raises(ValueError, match=r"Use tf\.where, which broadcasts"):
        v1.where([[True], [False]], X, -X)


def test_dropout_takes_keep_prob():
    kept = v1.nn.dropout(tf.ones([1000]), keep_prob=0.25, seed=1).numpy()
    assert set(kept.tolist()) == {0.0, 4.0}
    assert 150 < np.count_nonzero(kept) < 350
    with pytest.raises(ValueError, match="either keep_prob or rate"):
        v1.nn.dropout(X)


def test_labels_of_the_v1_cross_entropy_get_no_gradient():
    labels, logits = tf.Variable([[0.3, 0.7]]), tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        loss = v1.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    assert tape.gradient(loss, [labels, logits])[0] is None
    with pytest.raises(ValueError, match="by name"):
        v1.nn.softmax_cross_entropy_with_logits(labels, logits)


def test_losses():
    v, losses = tf.Variable([1.0, 2.0]), v1.losses
    with tf.GradientTape() as tape:
        parts = [
            losses.mean_squared_error([1.0, 1.0], v),
            losses.softmax_cross_entropy([[1.0, 0.0]], v[None]),
            losses.huber_loss([5.0, 1.0], v),
            losses.log_loss([1.0, 0.0], tf.sigmoid(v)),
            losses.hinge_loss([0.0, 1.0], v),
            losses.absolute_difference([0.0, 5.0], v, weights=[0.0, 2.0]),
            losses.sigmoid_cross_entropy([0.0, 1.0], v, label_smoothing=0.1),
            losses.sparse_softmax_cross_entropy([1], v[None]),
        ]
        total = tf.add_n(parts)
    close(total, 13.091713)
    close(tape.gradient(total, v), [-0.25605866, 0.3679139])


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        ("NONE", [0.0, 4.0, 12.0]),
        ("SUM", 16.0),
        ("MEAN", 3.2),
        ("SUM_OVER_BATCH_SIZE", 16 / 3),
        ("SUM_BY_NONZERO_WEIGHTS", 8.0),
    ],
)
def test_reductions_of_weighted_losses(reduction, expected):
    how = getattr(v1.losses.Reduction, reduction)
    losses, weights = [5.0, 2.0, 4.0], [0.0, 2.0, 3.0]
    close(v1.losses.compute_weighted_loss(losses, weights, reduction=how), expected)


def test_rates_decay_with_the_global_step(step):
    train = v1.train
    close(train.exponential_decay(0.1, step, 5, 0.9)(), 0.08628584)
    close(train.exponential_decay(0.1, step, 5, 0.9, staircase=True)(), 0.09)
    close(train.polynomial_decay(0.1, step, 100)(), 0.093007006)
    close(train.cosine_decay(0.1, step, 100)(), 0.09879584)
    close(train.inverse_time_decay(0.1, step, 5, 0.5)(), 0.05882353)
    close(train.natural_exp_decay(0.1, step, 5, 0.5)(), 0.04965853)
    rate = train.piecewise_constant(step, [5, 10], [1.0, 2.0, 3.0])
    close(rate(), 2.0)
    step.assign(11)
    close(rate(), 3.0)


def test_there_is_one_global_step(step):
    assert v1.train.get_global_step() is step
    assert v1.train.get_or_create_global_step() is step
    with pytest.raises(ValueError, match="already exists"):
        v1.train.create_global_step()


def test_v1_logging_uses_the_tensorflow_logger(caplog):
    before = v1.logging.get_verbosity()
    v1.logging.set_verbosity(v1.logging.INFO)
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        v1.logging.info("step %d", 3)
    assert "step 3" in caplog.messages
    assert tf.get_logger().level == logging.INFO
    v1.logging.set_verbosity(before)


@pytest.mark.parametrize("name", sorted({*V1_SIGNATURES, *INCOMPATIBLE_NAMES} - set(MOVED_NAMES)))
def test_every_adapted_name_exists(name):
    resolve_name(name if name != "nn.softmax_cross_entropy_with_logits_v2" else MOVED_NAMES[name])


@pytest.mark.parametrize("name", sorted(MOVED_NAMES))
def test_every_moved_name_exists(name):
    resolve_name(MOVED_NAMES[name])
