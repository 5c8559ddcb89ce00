"""Statements of the founding documents about the tape; `docs/founding.md` lists them.

Their examples run exactly as written in `seeds/`. Statements about Keras are tested in `keras/`.
"""

import gc
import math
import subprocess
import sys
import weakref

import numpy as np
import pytest

import gradtape as tf
from tests.founding import run, statements

SIX = "tf.Tensor(6.0, shape=(), dtype=float32)\n"


class Linear(tf.Module):
    """A model of one matrix and one bias."""

    def __init__(self, w, b):
        super().__init__()
        self.w, self.b = tf.Variable(w), tf.Variable(b)

    def __call__(self, x):
        return x @ self.w + self.b


class Descent:
    """The optimizer of a document's example: plain gradient descent."""

    def __init__(self, rate):
        self.rate = rate

    def apply_gradients(self, pairs):
        for gradient, variable in pairs:
            variable.assign_sub(self.rate * gradient)


def mean_squared_error(labels, predictions):
    return tf.reduce_mean(tf.square(labels - predictions))


def recorded(persistent=False, count=1):
    """A tape after its context, a source, a target, and weak references to intermediate results."""
    x, between = tf.Variable(0.5), []
    with tf.GradientTape(persistent=persistent) as tape:
        y = x
        for _ in range(count):
            y = tf.exp(y * 0.1)
            between.append(weakref.ref(y))
        target = y * y
    return tape, x, target, between


def alive(references):
    gc.collect()
    return sum(reference() is not None for reference in references)


def counted_identity(calls):
    """An identity that appends to `calls` when it is differentiated."""

    @tf.custom_gradient
    def identity(x):
        def grad(g):
            calls.append(g)
            return g

        return tf.identity(x), grad

    return identity


# Recording


def test_the_gradient_of_a_recorded_computation_is_its_derivative():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x**3 + tf.sin(x)
    assert float(tape.gradient(y, x)) == pytest.approx(27.0 + math.cos(3.0))


def test_gradients_agree_with_central_differences():
    def f(x):
        return tf.reduce_sum(tf.tanh(x) * tf.exp(-x) / (1.0 + x * x))

    at, step = np.array([0.5, -1.0, 2.0]), 1e-6
    x = tf.Variable(at)
    with tf.GradientTape() as tape:
        y = f(x)
    ways = step * np.eye(3)
    slopes = [
        (f(tf.constant(at + way)) - f(tf.constant(at - way))).numpy() / (2 * step) for way in ways
    ]
    np.testing.assert_allclose(tape.gradient(y, x), slopes, rtol=1e-8)


def test_the_context_hands_over_the_tape_itself():
    tape = tf.GradientTape()
    with tape as entered:
        pass
    assert entered is tape


def test_only_operations_inside_the_context_are_recorded():
    x = tf.Variable(3.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        inside = x * x
        from_before = before * 2.0
    after = x * x
    from_inside = inside * 2.0
    assert float(tape.gradient(inside, x)) == 6.0
    targets = [before, from_before, after, from_inside]
    assert [tape.gradient(target, x) for target in targets] == [None] * 4


def test_operations_on_nothing_watched_are_not_recorded():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = tf.exp(x)
        z = y * y
        reference = weakref.ref(y)
        del y
        assert alive([reference]) == 0
    assert tape.gradient(z, x) is None


def test_nothing_is_recorded_once_an_exception_has_left_the_context():
    x = tf.Variable(3.0)
    tape, inside = tf.GradientTape(), []

    def fail():
        with tape:
            inside.append(x * x)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    outside = x * x
    assert float(tape.gradient([*inside, outside], x)) == 6.0


def test_python_decides_anew_what_is_recorded():
    def gradient_at(value):
        x = tf.Variable(value)
        with tf.GradientTape() as tape:
            y = tf.identity(x)
            while y < 100.0:
                y = y * x
        return float(tape.gradient(y, x))

    # Of x ** 7, x ** 5 and x ** 1.
    assert [gradient_at(v) for v in (2.0, 3.0, 100.0)] == [7 * 2.0**6, 5 * 3.0**4, 1.0]


def test_results_have_their_values_at_once():
    assert tf.executing_eagerly()
    x = tf.Variable(3.0)
    with tf.GradientTape():
        assert (x * x).numpy() == 9.0


# Watching


def test_a_trainable_variable_is_watched_when_it_is_read():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        assert tape.watched_variables() == ()
        y = x * x
    (watched,) = tape.watched_variables()
    assert watched is x
    assert float(tape.gradient(y, x)) == 6.0


def test_a_variable_that_is_not_read_is_not_watched():
    read, other = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = read * read
    assert [v is read for v in tape.watched_variables()] == [True]
    assert tape.gradient(y, other) is None


def test_a_non_trainable_variable_is_not_watched():
    x = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.watched_variables() == ()
    assert tape.gradient(y, x) is None


def test_a_non_trainable_variable_has_a_gradient_once_watched():
    x = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


def test_a_constant_is_not_watched_by_itself():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_a_constant_has_a_gradient_once_watched():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert not isinstance(x, tf.Variable)
    assert float(tape.gradient(y, x)) == 6.0


def test_watching_after_the_context_comes_too_late(capsys):
    assert run("0.examples.5.code", tf).dy_dx is None
    assert capsys.readouterr().out == "None\n"


def test_without_watch_accessed_variables_only_watched_ones_count():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        between = tf.exp(b)
        y = a * (between * between)
    reference = weakref.ref(between)
    del between
    assert alive([reference]) == 0  # operations on b alone were not recorded
    assert [v is a for v in tape.watched_variables()] == [True]
    by_a, by_b = tape.gradient(y, [a, b])
    assert float(by_a) == pytest.approx(math.exp(6.0))
    assert by_b is None


# Gradients


def test_variables_and_watched_inputs_are_differentiated_together():
    model, x = Linear([[2.0], [3.0]], [1.0]), tf.constant([[5.0, 7.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model(x)
    by_input, by_w, by_b = tape.gradient(y, [x, model.w, model.b])
    assert by_input.numpy().tolist() == [[2.0, 3.0]]
    assert by_w.numpy().tolist() == [[5.0], [7.0]]
    assert by_b.numpy().tolist() == [1.0]


def test_the_gradient_is_the_vector_of_partial_derivatives():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x[0] * x[1] + x[1] * x[2] ** 2
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 10.0, 12.0]


def test_variables_of_different_shapes_get_a_gradient_each():
    variables = [tf.Variable(2.0), tf.Variable([1.0, 2.0]), tf.Variable([[1.0], [2.0], [3.0]])]
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.reduce_sum(v**2) for v in variables])
    gradients = tape.gradient(loss, variables)
    assert [g.shape for g in gradients] == [(), (2,), (3, 1)]
    values = [g.numpy().tolist() for g in gradients]
    assert values == [4.0, [2.0, 4.0], [[2.0], [4.0], [6.0]]]


def test_several_variables_may_share_a_computation():
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * b + b * c + c * a
    assert [float(g) for g in tape.gradient(y, [a, b, c])] == [5.0, 4.0, 3.0]


def test_the_gradient_may_be_asked_for_inside_the_context():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        assert float(tape.gradient(y, x)) == 6.0


def test_a_persistent_tape_asked_inside_its_context_warns_of_the_cost(caplog):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        assert float(tape.gradient(y, x)) == 6.0
    assert "less efficient" in caplog.text


def test_there_is_no_gradient_before_the_forward_pass():
    x = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.GradientTape().gradient(x * x, x)


def test_each_recorded_operation_is_differentiated_once():
    calls, x = [], tf.Variable(1.0)
    identity = counted_identity(calls)
    with tf.GradientTape() as tape:
        y = x
        for _ in range(40):  # 2 ** 40 paths lead from y to x
            y = identity(y)
            y = y + y
    assert float(tape.gradient(y, x)) == 2.0**40
    assert len(calls) == 40


def test_one_sweep_differentiates_by_any_number_of_inputs():
    calls, inputs = [], [tf.Variable(float(i)) for i in range(200)]
    with tf.GradientTape() as tape:
        y = counted_identity(calls)(tf.add_n([v * v for v in inputs]))
    assert [float(g) for g in tape.gradient(y, inputs)] == [2.0 * i for i in range(200)]
    assert len(calls) == 1


def test_a_computation_of_many_operations_is_differentiated():
    x = tf.Variable(1.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = tf.identity(x)
        for _ in range(5000):
            y = y * 1.0001
    assert float(tape.gradient(y, x)) == pytest.approx(1.0001**5000)


def test_an_operation_without_derivative_contributes_nothing():
    x = tf.Variable(2.5)
    with tf.GradientTape(persistent=True) as tape:
        rounded = tf.round(x) * 3.0
        both = rounded + x * x
    assert tape.gradient(rounded, x) is None
    assert float(tape.gradient(both, x)) == 5.0


def test_stop_gradient_cuts_one_path(capsys):
    assert float(run("0.examples.6.code", tf).output) == 20.0
    assert capsys.readouterr().out == "tf.Tensor(12.0, shape=(), dtype=float32)\n"


def test_stop_recording_suspends_the_tape():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = x * x
        total = y + z
    assert float(tape.gradient(total, x)) == 6.0


# Higher orders and jacobians


def test_nested_tapes_give_higher_derivatives():
    x = tf.Variable(2.0)
    with tf.GradientTape() as third, tf.GradientTape() as second, tf.GradientTape() as first:
        y = x**4
        dy = first.gradient(y, x)
        d2y = second.gradient(dy, x)
        d3y = third.gradient(d2y, x)
    assert [float(d) for d in (dy, d2y, d3y)] == [32.0, 48.0, 48.0]


def test_a_jacobian_holds_the_derivative_of_every_output_by_every_input():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.linalg.matvec(w, tf.constant([1.0, 10.0]))
    jacobian = tape.jacobian(y, w)
    assert jacobian.numpy().tolist() == [[[1.0, 10.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 10.0]]]


def test_a_jacobian_is_a_gradient_for_each_output():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(x) * tf.reduce_sum(x * x)
        outputs = tf.unstack(y)
    rows = [tape.gradient(output, x).numpy() for output in outputs]
    np.testing.assert_allclose(tape.jacobian(y, x), rows, rtol=1e-6)


# Memory of a tape


def test_a_tape_is_used_up_by_one_gradient():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0
    with pytest.raises(RuntimeError, match="one set of gradients"):
        tape.gradient(y, x)


def test_a_persistent_tape_answers_many_times():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * y
    assert [float(tape.gradient(target, x)) for target in (y, z, y)] == [6.0, 108.0, 6.0]


def test_a_tape_keeps_results_after_its_context():
    tape, x, target, between = recorded()
    assert alive(between) == 1
    assert tape.gradient(target, x) is not None


def test_what_a_tape_keeps_grows_with_what_it_records():
    kept = []
    for count in (10, 100):
        tape, x, target, between = recorded(count=count)
        kept.append(alive(between))
        assert tape.gradient(target, x) is not None
    assert kept == [10, 100]


def test_gradient_releases_what_a_tape_keeps():
    tape, x, target, between = recorded(count=10)
    tape.gradient(target, x)
    assert alive(between) == 0


def test_a_persistent_tape_keeps_results_after_gradient():
    tape, x, target, between = recorded(persistent=True, count=10)
    tape.gradient(target, x)
    assert alive(between) == 10


def test_deleting_a_persistent_tape_releases_what_it_keeps():
    tape, x, target, between = recorded(persistent=True, count=10)
    tape.gradient(target, x)
    del tape
    assert alive(between) == 0


def test_a_persistent_tape_that_goes_out_of_scope_needs_no_del():
    def gradients():
        tape, x, target, between = recorded(persistent=True, count=10)
        return tape.gradient(target, x), tape.gradient(target, x), between

    first, second, between = gradients()
    assert float(first) == float(second)
    assert alive(between) == 0


def test_nested_tapes_release_what_they_keep():
    x = tf.Variable(0.5)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            between = tf.exp(x)
            y = between * between
        dy = inner.gradient(y, x)
    reference = weakref.ref(between)
    del between
    assert alive([reference]) == 1
    assert float(outer.gradient(dy, x)) == pytest.approx(4 * math.exp(1.0))
    assert alive([reference]) == 0


# Tensors, and custom gradients


def test_a_tensor_is_a_multidimensional_array_of_one_type():
    x = tf.constant([[[1, 2.5]], [[3, 4]]])
    assert x.shape == (2, 1, 2)
    assert x.dtype == tf.float32
    assert x.numpy().tolist() == [[[1.0, 2.5]], [[3.0, 4.0]]]
    with pytest.raises((ValueError, TypeError)):
        tf.constant([1.0, "two"])


def test_a_custom_gradient_may_use_a_tape():
    @tf.custom_gradient
    def doubled_back(x):
        def grad(g):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return 2.0 * g * tape.gradient(y, x)

        return x * x, grad

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = doubled_back(x)
    assert float(y) == 9.0
    assert float(tape.gradient(y, x)) == 12.0


def test_a_gradient_written_by_hand_equals_the_recorded_one():
    x, w = tf.constant([[1.0, 2.0], [3.0, -1.0]]), tf.Variable([[0.5], [-0.25]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(x @ w))
    by_hand = tf.transpose(x) @ (1.0 - tf.tanh(x @ w) ** 2)
    np.testing.assert_allclose(tape.gradient(y, w), by_hand, rtol=1e-6)


# Training


def test_the_basic_examples_give_six(capsys):
    for example in ("0.examples.1.code", "4.pattern.1.code", "4.pattern.2.code"):
        run(example, tf)
        assert capsys.readouterr().out == SIX
    assert float(run("1.pattern.1.code", tf).dy_dx) == 6.0


def test_the_second_order_examples_give_second_derivatives(capsys):
    assert float(run("0.examples.3.code", tf).dy_dx) == 3.0
    assert capsys.readouterr().out == SIX
    seen = run("1.pattern.4.code", tf)
    assert (float(seen.dy_dx), float(seen.d2y_dx2)) == (2.0, 2.0)


def test_second_order_gradients_of_a_model():
    model = Linear([[2.0]], [0.0])
    x, target = tf.constant([[3.0]]), tf.constant([[1.0]])
    seen = run(
        "0.pattern.2.code", tf, model=model, x=x, target=target, loss_function=mean_squared_error
    )
    # TensorFlow orders a module's variables by name: b comes before w.
    assert [g.numpy().tolist() for g in seen.grads] == [[10.0], [[30.0]]]
    assert [g.numpy().tolist() for g in seen.second_order_grads] == [[8.0], [[24.0]]]


def test_one_training_step_moves_the_variables():
    model = Linear([[1.0], [2.0]], [0.5])
    seen = run(
        "0.pattern.1.code",
        tf,
        model=model,
        optimizer=Descent(0.1),
        inputs=tf.constant([[1.0, 1.0], [2.0, 0.0]]),
        labels=tf.constant([[1.0], [0.0]]),
        custom_loss_function=mean_squared_error,
    )
    assert float(seen.loss) == 6.25
    assert model.w.numpy().tolist() == [[0.25], [1.75]]
    assert model.b.numpy().tolist() == [0.0]


def test_a_training_step_for_each_batch():
    model = Linear([[0.5], [-0.5]], [0.0])
    batches = [([[1.0, 2.0]], [[1.0]]), ([[0.0, 1.0]], [[2.0]])]
    dataset = [(tf.constant(x), tf.constant(y)) for x, y in batches]
    run(
        "0.examples.2.code",
        tf,
        model=model,
        optimizer=Descent(0.1),
        dataset=dataset,
        loss_function=mean_squared_error,
    )
    np.testing.assert_allclose(model.w, [[0.8], [0.42]], rtol=1e-6)
    np.testing.assert_allclose(model.b, [0.62], rtol=1e-6)


def test_a_custom_training_loop_over_epochs():
    model = Linear([[1.0], [1.0]], [0.0])
    batches = [([[1.0, 0.0]], [[2.0]]), ([[0.0, 1.0]], [[-2.0]])]
    dataset = [(tf.constant(x), tf.constant(y)) for x, y in batches]
    losses = []

    def loss_fn(targets, predictions):
        losses.append(mean_squared_error(targets, predictions))
        return losses[-1]

    names = {"model": model, "dataset": dataset, "loss_fn": loss_fn, "num_epochs": 30}
    run("1.pattern.3.code", tf, optimizer=Descent(0.1), **names)
    assert len(losses) == 60
    assert float(losses[0] + losses[1]) > 1.0
    assert float(losses[-1] + losses[-2]) < 0.01


def test_gradients_can_be_changed_before_they_are_applied():
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v**2)
    clipped, norm = tf.clip_by_global_norm([tape.gradient(loss, v)], 1.0)
    Descent(1.0).apply_gradients(zip(clipped, [v], strict=True))
    assert float(norm) == 10.0
    np.testing.assert_allclose(v, [2.4, 3.2], rtol=1e-6)


def test_two_models_are_trained_together():
    first, second = Linear([[2.0]], [0.0]), Linear([[3.0]], [1.0])
    variables = first.trainable_variables + second.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(second(first(tf.constant([[1.0]]))) ** 2)
    Descent(0.01).apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    assert float(loss) == 49.0
    values = [v.numpy().item() for v in (first.w, first.b, second.w, second.b)]
    np.testing.assert_allclose(values, [1.58, -0.42, 2.72, 0.86], rtol=1e-6)


# Environment


def test_document_three_breaks_off_in_its_second_section():
    sections = [number.split(".")[1] for number in statements() if number.startswith("3.")]
    assert list(dict.fromkeys(sections)) == ["text", "functionality", "concept"]
    assert statements()["3.concept.8"].endswith("is used as")


def in_a_new_process(program):
    """The output of a program in a new process that imports gradtape as `tf`."""
    program = f"import sys\nbefore = set(sys.modules)\nimport {tf.__name__} as tf\n{program}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


TAPE_PROGRAM = """
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x ** 2
tape.gradient(y, x)
"""


def test_tensorflow_is_not_imported():
    program = f"{TAPE_PROGRAM}\nprint('tensorflow' in sys.modules, 'keras' in sys.modules)"
    assert in_a_new_process(program) == "False False\n"


def test_a_tape_needs_no_other_package_than_its_arrays():
    program = f"""{TAPE_PROGRAM}
tops = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(*sorted(tops - sys.stdlib_module_names))"""
    assert set(in_a_new_process(program).split()) <= {tf.__name__, "numpy", "ml_dtypes", "optree"}


def test_the_version_is_that_of_the_tensorflow_it_follows():
    assert tf.__version__.startswith("2.21.")


def test_tensors_and_gradients_are_on_the_cpu():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    gradient = tape.gradient(y, x)
    assert all(t.device.endswith("device:CPU:0") for t in (x, y, gradient))


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param([0.658729076385498, 3.122034788131714, 4.138713836669922], id="pytorch"),
        pytest.param([0.6587291359901428, 3.122034788131714, 4.138713836669922], id="jax"),
    ],
)
def test_gradients_are_those_of_pytorch_and_jax(theirs):
    # Recorded from torch.autograd 2.13 and jax.grad 0.10 on the same function.
    x = tf.Variable([0.5, -1.5, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(x) * x**2)
    np.testing.assert_allclose(tape.gradient(y, x), theirs, rtol=1e-6)


def test_tf_gradients_is_refused_in_eager_mode():
    x = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.gradients(x * x, x)


# Functions


def test_a_tape_works_inside_a_function():
    x = tf.Variable(3.0)

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            y = x**2
        return tape.gradient(y, x)

    assert float(gradient()) == 6.0


def test_a_function_runs_its_python_once_for_many_calls():
    runs, x = [], tf.Variable(3.0)

    @tf.function
    def gradient(scale):
        runs.append(None)
        with tf.GradientTape() as tape:
            y = scale * x**2
        return tape.gradient(y, x)

    scales = tf.constant([1.0, 2.0, 3.0])
    assert [float(gradient(scale)) for scale in scales] == [6.0, 12.0, 18.0]
    assert len(runs) == 1


def test_tf_gradients_works_inside_a_function():
    @tf.function
    def gradient(x):
        return tf.gradients(x**2, x)[0]

    assert float(gradient(tf.constant(3.0))) == 6.0
