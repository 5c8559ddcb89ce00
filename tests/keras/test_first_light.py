"""The unmodified Keras on gradtape: a Sequential of Dense layers, a tape loop, and an eager `fit`.

The expected numbers are those of TensorFlow 2.21 with Keras 3.15.1, from the same weights and data.
"""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import gradtape as tf

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
tf.install()
keras = pytest.importorskip("keras")

X = np.random.default_rng(0).normal(size=(200, 8)).astype("float32")
Y = (X @ np.random.default_rng(2).normal(size=(8, 3))).argmax(1).astype("int32")
CROSS_ENTROPY = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def model_of(activation):
    model = keras.Sequential(
        [
            keras.Input((8,)),
            keras.layers.Dense(16, activation=activation),
            keras.layers.Dense(12, activation="tanh"),
            keras.layers.Dense(3),
        ]
    )
    generator = np.random.default_rng(1)
    model.set_weights(
        [generator.normal(size=w.shape).astype("float32") * 0.3 for w in model.get_weights()]
    )
    return model


OPTIMIZERS = {
    "adam": lambda: keras.optimizers.Adam(0.01),
    "adamw": lambda: keras.optimizers.AdamW(0.01, weight_decay=0.01, clipnorm=1.0),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01, centered=True),
    "sgd": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
}

# recorded with TensorFlow 2.21
LOOP = {
    "adam": [
        0.9860991835594177,
        0.7823881506919861,
        0.6694464087486267,
        0.5703375339508057,
        0.4697287380695343,
    ],
    "adamw": [
        0.9861641526222229,
        0.7826347947120667,
        0.669823408126831,
        0.570875883102417,
        0.47040557861328125,
    ],
    "rmsprop": [
        0.7923219799995422,
        0.5625872015953064,
        0.39767658710479736,
        0.2762822210788727,
        0.1949981302022934,
    ],
    "sgd": [
        0.9486268758773804,
        0.7238951921463013,
        0.5234314203262329,
        0.3223281502723694,
        0.1635197103023529,
    ],
}
FIT = {
    "accuracy": [0.4277777671813965, 0.644444465637207, 0.8277778029441833],
    "loss": [1.124183177947998, 0.8738269209861755, 0.7024863958358765],
    "val_accuracy": [0.5, 0.6499999761581421, 0.75],
    "val_loss": [1.0267586708068848, 0.7944734692573547, 0.656063437461853],
}
EVALUATED = [0.619070291519165, 0.8450000286102295]
PREDICTED = [
    [-0.051887333393096924, -0.48012351989746094, -0.16266509890556335],
    [1.002733826637268, 0.680447518825531, -1.5112171173095703],
]
INITIAL = {
    "GlorotNormal": [
        [-0.5398684740066528, 1.3473306894302368],
        [-0.7590528726577759, 0.4887053370475769],
    ],
    "GlorotUniform": [
        [-0.7448583841323853, 1.0761717557907104],
        [0.07905781269073486, 0.8353773355484009],
    ],
    "HeNormal": [
        [-0.763489305973053, 1.905413269996643],
        [-1.0734628438949585, 0.6911337375640869],
    ],
    "RandomNormal": [
        [-0.03357924148440361, 0.08380252122879028],
        [-0.04721227288246155, 0.030396947637200356],
    ],
    "RandomUniform": [
        [-0.030408715829253197, 0.04393452778458595],
        [0.0032275207340717316, 0.034104134887456894],
    ],
    "TruncatedNormal": [
        [-0.03357924148440361, 0.08380252122879028],
        [-0.04721227288246155, 0.030396947637200356],
    ],
}


def train(model, optimizer, epochs):
    losses = []
    for _ in range(epochs):
        for i in range(0, 200, 50):
            with tf.GradientTape() as tape:
                loss = CROSS_ENTROPY(Y[i : i + 50], model(X[i : i + 50], training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_tape_loop_gives_tensorflows_losses(name):
    losses = train(model_of("relu"), OPTIMIZERS[name](), 5)
    np.testing.assert_allclose(losses, LOOP[name], rtol=2e-6)


def test_an_eager_fit_gives_tensorflows_history():
    model = model_of("gelu")
    model.compile(
        keras.optimizers.Adam(0.01), CROSS_ENTROPY, metrics=["accuracy"], run_eagerly=True
    )
    history = model.fit(X, Y, 48, 3, shuffle=False, verbose=0, validation_split=0.1).history
    assert set(history) == set(FIT)
    for name, values in FIT.items():
        np.testing.assert_allclose(history[name], values, rtol=2e-6, err_msg=name)
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), EVALUATED, rtol=2e-6)
    np.testing.assert_allclose(model.predict(X[:2], verbose=0), PREDICTED, rtol=5e-6)


def test_initializers_draw_tensorflows_numbers():
    for name, values in INITIAL.items():
        drawn = getattr(keras.initializers, name)(seed=3)((2, 2))
        np.testing.assert_allclose(drawn, values, rtol=5e-7, err_msg=name)


def test_a_model_is_built_by_its_first_batch_and_learns():
    keras.utils.set_random_seed(5)
    layers = [
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ]
    model = keras.Sequential(layers)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], run_eagerly=True)
    first, *_, last = model.fit(X, Y, epochs=12, verbose=0).history["loss"]
    assert last < 0.8 * first
    assert model.predict(X, verbose=0).shape == (200, 3)


def test_a_seed_fixes_the_order_of_the_batches():
    def losses():
        keras.utils.set_random_seed(5)
        model = model_of("relu")
        model.compile("sgd", CROSS_ENTROPY, run_eagerly=True)
        return model.fit(X, Y, epochs=2, verbose=0).history["loss"]

    assert losses() == losses()


def test_datasets_and_single_batches():
    model = model_of("relu")
    model.compile("sgd", CROSS_ENTROPY, run_eagerly=True)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(50)
    a = model.fit(dataset, epochs=1, shuffle=False, verbose=0).history["loss"]
    other = model_of("relu")
    other.compile("sgd", CROSS_ENTROPY, run_eagerly=True)
    b = other.fit(X, Y, 50, epochs=1, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(a, b, rtol=1e-6)
    assert float(model.train_on_batch(X, Y)) > float(model.test_on_batch(X, Y))


def test_generators():
    def batches():
        for i in range(0, 200, 50):
            yield X[i : i + 50], Y[i : i + 50]

    model = model_of("relu")
    model.compile("sgd", CROSS_ENTROPY, run_eagerly=True)
    # As on TensorFlow, Keras warns: the length of a generator is unknown.
    with pytest.warns(UserWarning, match="ran out of data"):
        history = model.fit(batches(), epochs=1, shuffle=False, verbose=0).history
    assert len(history["loss"]) == 1


def test_keras_variables_count_as_tensors_and_are_sources():
    variable = keras.Variable([1.0, 2.0])
    assert tf.is_tensor(variable)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.square(variable))
    assert tape.gradient(y, variable).numpy().tolist() == [2.0, 4.0]
    assert tf.add(variable, 1.0).numpy().tolist() == [2.0, 3.0]
    assert [v.ref() for v in tape.watched_variables()] == [variable.value.ref()]


def test_a_custom_train_step():
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = CROSS_ENTROPY(y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"cross_entropy": loss}

    model = Model()
    model.compile(keras.optimizers.Adam(0.05), run_eagerly=True)
    first, *_, last = model.fit(X, Y, 200, epochs=5, verbose=0).history["cross_entropy"]
    assert last < first


def test_tf_keras_is_keras():
    from tensorflow.keras.layers import Dense

    assert Dense is keras.layers.Dense is tf.keras.layers.Dense
    assert tf.optimizers.Adam is keras.optimizers.Adam


def test_fit_compiles_its_step_or_runs_it_eagerly():
    model = model_of("relu")
    model.compile("sgd", CROSS_ENTROPY)
    assert len(model.fit(X, Y, verbose=0).history["loss"]) == 1
    tf.config.run_functions_eagerly(True)
    try:
        assert len(model.fit(X, Y, verbose=0).history["loss"]) == 1
    finally:
        tf.config.run_functions_eagerly(False)


def test_importing_keras_leaves_the_global_generators_alone():
    code = """if True:
        import random
        import numpy as np
        import gradtape as tf
        random.seed(1), np.random.seed(1)
        expected = random.random(), np.random.random()
        random.seed(1), np.random.seed(1)
        tf.keras.layers.Dense
        assert (random.random(), np.random.random()) == expected
        """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_optimizer_base_of_keras_2_takes_a_name():
    """GPflow derives its natural gradients from it."""
    import tf_keras

    class Natural(tf_keras.optimizers.Optimizer):
        def __init__(self):
            super().__init__("natural")

    assert Natural().name == "natural"
    assert isinstance(tf_keras.optimizers.Adam(), tf_keras.optimizers.Optimizer)
    assert not isinstance(1, tf_keras.optimizers.Optimizer)
