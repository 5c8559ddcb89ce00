"""The founding documents' examples with Keras: models, optimizers, `train_step`, `fit`.

The unmodified Keras 3 runs on gradtape. The examples are taken unchanged from `tests/seeds`.
"""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

import gradtape
from tests.founding import run

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
gradtape.install()  # before Keras is imported, so that its backend is gradtape
tf = import_module("tensorflow")


def dense(kernel, bias, activation=None):
    """A Keras model of one layer with the given weights."""
    layer = tf.keras.layers.Dense(len(bias), activation=activation)
    model = tf.keras.Sequential([tf.keras.Input((len(kernel),)), layer])
    model.set_weights([np.array(kernel), np.array(bias)])
    return model


def assert_weights(model, *expected):
    for weight, values in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_allclose(weight, values, rtol=1e-5)


def test_a_training_step_of_a_keras_model():
    model = dense([[1.0], [2.0]], [0.5])
    seen = run(
        "0.pattern.1.code",
        tf,
        model=model,
        optimizer=tf.keras.optimizers.SGD(learning_rate=0.1),
        inputs=tf.constant([[1.0, 1.0], [2.0, 0.0]]),
        labels=tf.constant([[1.0], [0.0]]),
        custom_loss_function=lambda labels, predictions: tf.reduce_mean(
            (labels - predictions) ** 2
        ),
    )
    assert float(seen.loss) == 6.25
    assert_weights(model, [[0.25], [1.75]], [0.0])


def test_second_order_gradients_of_a_keras_model():
    seen = run(
        "0.pattern.2.code",
        tf,
        model=dense([[0.5], [-0.25]], [0.1], activation="tanh"),
        x=tf.constant([[1.0, 2.0]]),
        target=tf.constant([[1.0]]),
        loss_function=tf.keras.losses.MeanSquaredError(),
    )
    kernel, bias = seen.grads
    np.testing.assert_allclose(kernel, [[-1.7827767], [-3.5655534]], rtol=1e-5)
    np.testing.assert_allclose(bias, [-1.7827767], rtol=1e-5)
    kernel, bias = seen.second_order_grads
    np.testing.assert_allclose(kernel, [[9.263337], [18.526674]], rtol=1e-5)
    np.testing.assert_allclose(bias, [9.263337], rtol=1e-5)


def test_a_keras_model_is_trained_batch_by_batch():
    model = dense([[0.0]], [0.0])
    batches = [([[1.0], [2.0]], [[2.0], [4.0]]), ([[3.0], [4.0]], [[6.0], [8.0]])]
    seen = run(
        "0.examples.2.code",
        tf,
        model=model,
        optimizer=tf.keras.optimizers.SGD(0.01),
        dataset=[(tf.constant(x), tf.constant(y)) for x, y in batches],
        loss_function=tf.keras.losses.MeanSquaredError(),
    )
    assert float(seen.loss) == pytest.approx(44.3306, rel=1e-5)
    assert_weights(model, [[0.5708]], [0.1918])


def test_a_keras_network_is_trained():
    layers = [
        tf.keras.Input((2,)),
        tf.keras.layers.Dense(2, activation="relu", kernel_initializer="ones"),
        tf.keras.layers.Dense(1, kernel_initializer="ones"),
    ]
    seen = run(
        "1.pattern.2.code",
        tf,
        filled="*layers",
        layers=layers,
        inputs=tf.constant([[1.0, 2.0], [-2.0, 1.0]]),
        targets=tf.constant([[1.0], [0.0]]),
        compute_loss=lambda predictions, targets: tf.reduce_mean((predictions - targets) ** 2),
    )
    # relu passes only the first row. Its prediction is 6, the target 1, the learning rate 0.01.
    assert float(seen.loss) == 12.5
    first = [[0.95, 0.95], [0.9, 0.9]]
    assert_weights(seen.model, first, [-0.05, -0.05], [[0.85], [0.85]], [-0.05])


def test_a_keras_model_is_trained_over_epochs():
    model = dense([[0.5]], [0.0])
    batches = [([[1.0]], [[1.0]]), ([[2.0]], [[3.0]])]
    seen = run(
        "1.pattern.3.code",
        tf,
        model=model,
        optimizer=tf.keras.optimizers.Adam(0.1),
        dataset=[(tf.constant(x), tf.constant(y)) for x, y in batches],
        loss_fn=tf.keras.losses.MeanSquaredError(),
        num_epochs=3,
    )
    assert float(seen.loss) == pytest.approx(0.6437472, rel=1e-4)
    np.testing.assert_allclose(model.get_weights()[0], [[0.9622883]], rtol=1e-4)
    np.testing.assert_allclose(model.get_weights()[1], [0.4841645], rtol=1e-4)


def test_two_keras_models_are_trained_together():
    first, second = dense([[2.0]], [0.0]), dense([[3.0]], [1.0])
    variables = first.trainable_variables + second.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(second(first(tf.constant([[1.0]]))) ** 2)
    gradients = tape.gradient(loss, variables)
    tf.keras.optimizers.SGD(0.01).apply_gradients(zip(gradients, variables, strict=True))
    assert float(loss) == 49.0
    assert_weights(first, [[1.58]], [-0.42])
    assert_weights(second, [[2.72]], [0.86])


def test_tf_optimizers_are_those_of_keras():
    model = dense([[1.0], [-1.0]], [0.0])
    seen = run(
        "4.pattern.3.code",
        tf,
        model=model,
        inputs=tf.constant([[1.0, 2.0]]),
        labels=tf.constant([[3.0]]),
        loss_function=tf.keras.losses.MeanSquaredError(),
    )
    assert type(seen.optimizer) is tf.keras.optimizers.SGD
    assert float(seen.loss) == 16.0
    assert_weights(model, [[1.08], [-0.84]], [0.08])


def test_compile_and_fit_do_what_a_loop_with_a_tape_does():
    x, y = np.array([[1.0], [2.0]], "float32"), np.array([[2.0], [4.0]], "float32")
    looped, fitted = dense([[0.0]], [0.0]), dense([[0.0]], [0.0])
    optimizer, losses = tf.keras.optimizers.SGD(0.05), []
    for _ in range(3):
        with tf.GradientTape() as tape:
            losses.append(tf.reduce_mean((looped(x) - y) ** 2))
        gradients = tape.gradient(losses[-1], looped.trainable_variables)
        optimizer.apply_gradients(zip(gradients, looped.trainable_variables, strict=True))

    fitted.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss="mse", run_eagerly=True)
    history = fitted.fit(x, y, epochs=3, batch_size=2, shuffle=False, verbose=0).history

    np.testing.assert_allclose(history["loss"], [10.0, 4.365, 1.9298246], rtol=1e-5)
    np.testing.assert_allclose(history["loss"], [float(loss) for loss in losses], rtol=1e-6)
    assert_weights(fitted, *looped.get_weights())


def fit_with_the_documents_train_step(**layer):
    """Train a model of document 0's class for two epochs; return it with history and warnings."""
    inputs = tf.keras.Input((1,))
    model_class = run("0.examples.4.code", tf).MyModel
    model = model_class(inputs, tf.keras.layers.Dense(1, **layer)(inputs))
    model.set_weights([np.array([[1.0]]), np.array([0.0])])
    sgd = tf.keras.optimizers.SGD(0.1)
    model.compile(optimizer=sgd, loss="mse", metrics=["mae"], run_eagerly=True)
    x, y = np.array([[1.0], [2.0]], "float32"), np.array([[3.0], [5.0]], "float32")
    with pytest.warns(UserWarning, match="is deprecated") as warned:
        history = model.fit(x, y, epochs=2, verbose=0).history
    return model, history, {str(w.message).split("`")[1] for w in warned}


def test_a_custom_train_step_trains():
    model, history, _ = fit_with_the_documents_train_step()
    assert_weights(model, [[2.05]], [0.66])
    np.testing.assert_allclose(history["mae"], [2.5, 0.8], rtol=1e-5)


def test_a_custom_train_step_adds_regularization_losses():
    regularizer = tf.keras.regularizers.L2(0.1)
    model, _, _ = fit_with_the_documents_train_step(kernel_regularizer=regularizer)
    assert_weights(model, [[2.0044]], [0.666])


def test_compiled_loss_and_compiled_metrics_are_deprecated():
    _, _, warned = fit_with_the_documents_train_step()
    assert warned == {"model.compiled_loss()", "model.compiled_metrics()"}


def test_compiled_metrics_reports_the_mean_prediction_as_loss():
    _, history, _ = fit_with_the_documents_train_step()
    np.testing.assert_allclose(history["loss"], [1.5, 3.2], rtol=1e-5)
