"""A call updates all its variables or none, whatever fails or interrupts it."""

import sys
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy import engine
from gradtape.core.context import hand_watched_count, local, set_recorders
from gradtape.graph import trace
from tests.fuzz.concurrency import KINDS, check_interrupts


@pytest.fixture(autouse=True)
def float_errors():
    """Restore NumPy's handling of float errors: a failure at any instruction may leave it off."""
    before = np.geterr()
    yield
    np.seterr(**before)


@pytest.fixture(autouse=True)
def silence():
    """Remove all recorders after a test."""
    yield
    set_recorders(())


class BoomError(Exception):
    """A deliberate failure."""


class Interruption(BaseException):
    """An interrupt, like KeyboardInterrupt."""


class Training:
    """A step that reads, draws, differentiates, and assigns to a dozen variables."""

    def __init__(self, body="plain"):
        start = np.random.default_rng(0)
        shapes = [(3, 4), (4,), (4, 1), (1,)]
        self.weights = [tf.Variable(start.normal(size=s), dtype=tf.float32) for s in shapes]
        self.momenta = [tf.Variable(tf.zeros(s)) for s in shapes]
        self.average = tf.Variable(0.0)
        self.count = tf.Variable(0)
        self.drawn = tf.random.Generator.from_seed(3)
        self.table = tf.Variable(tf.zeros((5, 2)))
        self.notes = []
        self.variables = [*self.weights, *self.momenta, self.average, self.count, self.table]
        self.variables.append(self.drawn.state)
        self.step = tf.function(getattr(self, body))
        self.x = tf.constant(start.normal(size=(6, 3)), tf.float32)
        self.y = tf.constant(start.normal(size=(6, 1)), tf.float32)

    def predict(self, x):
        a, b, c, d = self.weights
        hidden = tf.nn.relu(x @ a + b)
        kept = tf.cast(self.drawn.uniform(tf.shape(hidden)) > 0.2, tf.float32)
        return (hidden * kept) @ c + d

    def update(self, loss, slopes):
        rate = tf.where(self.count < 3, 0.1, 0.01)
        for weight, momentum, slope in zip(self.weights, self.momenta, slopes, strict=True):
            momentum.assign(0.9 * momentum + slope)
            weight.assign_sub(rate * momentum)
        self.table.scatter_add(tf.IndexedSlices(tf.ones((2, 2)), tf.constant([1, 3])))
        self.average.assign(0.5 * self.average + 0.5 * loss)
        self.count.assign_add(1)

    def plain(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.predict(x) - y))
        self.update(loss, tape.gradient(loss, self.weights))
        return loss

    def guarded(self, x, y):
        loss = self.plain(x, y)
        if self.count % 2 == 0:
            self.average.assign(self.average * 0.5)
        return loss

    def hosted(self, x, y):
        self.count.assign_add(0)
        tf.numpy_function(lambda a: self.notes.append(float(a)) or a, [self.average], tf.float32)
        loss = self.plain(x, y)
        tf.debugging.assert_all_finite(loss, "loss")
        return loss

    def looped(self, x, y):
        total = tf.constant(0.0)
        for _ in tf.range(2):
            total += self.plain(x, y)
        return tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 0.5), (0, total))[1]

    def run(self):
        return self.step(self.x, self.y)

    def taped(self):
        with tf.GradientTape() as tape:
            loss = self.run()
        return tape.gradient(loss, self.weights)

    def state(self):
        return [v.numpy().tobytes() for v in self.variables]

    def reset(self, values):
        for variable, raw in zip(self.variables, values, strict=True):
            variable.assign(
                np.frombuffer(raw, variable.dtype.as_numpy_dtype).reshape(variable.shape)
            )


class Large(Training):
    """The same with weights that are updated in place."""

    def __init__(self):
        super().__init__()
        shapes = [(3, 12000), (12000,), (12000, 1), (12000,)]
        self.weights = [tf.Variable(tf.ones(s) * 0.01) for s in shapes]
        self.momenta = [tf.Variable(tf.zeros(s)) for s in shapes]
        self.variables = [*self.weights, *self.momenta, self.average, self.count, self.table]
        self.variables.append(self.drawn.state)
        self.step = tf.function(self.plain)

    def predict(self, x):
        a, b, c, d = self.weights
        return tf.nn.relu(x @ a + b) @ c + tf.reduce_mean(d)


BODIES = ["plain", "guarded", "hosted", "looped"]


def has_no_recorder():
    """Whether no recorder is active."""
    return local.recorders == () and hand_watched_count[0] == 0


class Failing:
    """A wrapper whose k-th call raises."""

    def __init__(self, function, at):
        self.function, self.at, self.calls = function, at, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        if self.calls == self.at:
            raise BoomError
        return self.function(*args, **kwargs)


@pytest.mark.parametrize("body", BODIES)
def test_a_failure_at_any_node_of_the_first_step_changes_nothing(body, monkeypatch):
    evaluate = trace.run_kernel
    whole = Training(body)
    counter = Failing(evaluate, 0)
    monkeypatch.setattr(trace, "run_kernel", counter)
    whole.run()
    after = whole.state()
    assert counter.calls > 30
    for k in range(1, counter.calls + 1, 1 if body == "plain" else 5):
        training = Training(body)
        before = training.state()
        monkeypatch.setattr(trace, "run_kernel", Failing(evaluate, k))
        with pytest.raises(BoomError):
            training.run()
        assert training.state() == before
        assert has_no_recorder()
    monkeypatch.setattr(trace, "run_kernel", evaluate)
    training.run()
    assert training.state() == after


@pytest.fixture
def unowned_plans(monkeypatch):
    """Make plans that do not track which call owns their buffers.

    `Fuse` also raises between instructions where Python handles no signals; there a plan would stay
    owned.
    """
    generate = engine.generate_function
    monkeypatch.setattr(engine, "generate_function", lambda program, spare=None: generate(program))


class Fuse:
    """A trace function that raises at the k-th event inside the library.

    Python drops an exception that is raised while a generator is closed; the call then goes on.

    Args:
        at: index of the event; 0 to only count events.
        opcodes: whether events are instructions rather than lines.
    """

    def __init__(self, at, opcodes):
        self.at, self.opcodes, self.events = at, opcodes, 0

    def __call__(self, frame, event, arg):
        name = frame.f_globals.get("__name__", "")
        plan = frame.f_code.co_filename.startswith("<gradtape plan ")
        if not plan and not name.startswith("gradtape."):
            return None
        frame.f_trace = self.tick  # Python 3.13 reports instructions only of a frame that has it
        frame.f_trace_opcodes = self.opcodes
        return self.tick

    def tick(self, frame, event, arg):
        if event == ("opcode" if self.opcodes else "line"):
            self.events += 1
            if self.events == self.at:
                raise Interruption
        return self.tick

    def burn(self, function):
        """Call `function`; return whether an exception was raised in it."""
        before, report = sys.gettrace(), sys.unraisablehook
        sys.unraisablehook = lambda dropped: (
            None if dropped.exc_type is Interruption else report(dropped)
        )
        if self.opcodes:  # Python 3.12 reports instructions only if a frame asked for them before
            sys._getframe().f_trace_opcodes = True
        sys.settrace(self)
        try:
            function()
        except Interruption:
            pass
        finally:
            sys.settrace(before)
            sys.unraisablehook = report
        return 0 < self.at <= self.events


def outcomes(training, call, opcodes, every):
    """Interrupt a call at each event; count how often it had changed nothing or everything."""
    start = training.state()
    call()
    end = training.state()
    assert start != end
    found = {"before": 0, "after": 0}
    k = 1
    while True:
        training.reset(start)
        broken = Fuse(k, opcodes).burn(call)
        state = training.state()
        assert state in (start, end), f"between, at event {k}"
        found["before" if state == start else "after"] += 1
        set_recorders(())  # an interrupt at the entry of the user's tape may leave it active
        if not broken:
            break
        k += every
    training.reset(start)
    call()
    assert training.state() == end
    return found


@pytest.mark.usefixtures("unowned_plans")
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("under", ["run", "taped"])
def test_a_failure_at_any_instruction_of_a_compiled_step_changes_nothing_or_all(body, under):
    training = Training(body)
    call = getattr(training, under)
    for _ in range(6):  # all paths are traced and compiled
        call()
    every = {"run": 3, "taped": 31}[under] * (1 if body == "plain" else 5)
    found = outcomes(training, call, True, every)
    assert found["before"] > 10
    assert found["after"] > 0


@pytest.mark.usefixtures("unowned_plans")
def test_a_failure_at_any_instruction_of_a_step_in_place_changes_nothing_or_all():
    training = Large()
    for _ in range(4):
        training.run()
    kept = [id(v._value._array) for v in training.weights]
    training.run()
    assert [id(v._value._array) for v in training.weights] == kept  # the updates are in place
    found = outcomes(training, training.run, True, 7)
    assert found["before"] > 10
    assert found["after"] > 0


@pytest.mark.parametrize("body", BODIES)
def test_a_failure_at_any_line_of_the_first_step_changes_nothing_or_all(body):
    start = Training(body).state()
    training = Training(body)
    fuse = Fuse(0, False)
    fuse.burn(training.run)
    end = training.state()
    for k in range(1, fuse.events + 1, fuse.events // 25):
        training = Training(body)
        Fuse(k, False).burn(training.run)
        assert training.state() in (start, end)
        assert local.recorders == ()


def test_a_failing_kernel_of_a_compiled_step_changes_nothing():
    v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])

    @tf.function
    def f(x, i, m):
        v.assign_add(x)
        w.assign(w * tf.gather(w, i))
        w.assign(tf.linalg.inv(m)[0] + w)
        tf.debugging.assert_less(x, 100.0)
        return v + 0.0

    good = (tf.constant(1.0), tf.constant(0), tf.eye(2))
    for _ in range(3):
        f(*good)
    before = [v.numpy(), w.numpy().tolist()]
    singular = tf.zeros((2, 2))
    for bad in (
        (good[0], tf.constant(5), good[2]),
        (good[0], good[1], singular),
        (tf.constant(100.0), good[1], good[2]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(*bad)
        assert [v.numpy(), w.numpy().tolist()] == before


def test_an_error_in_the_python_of_a_first_call_changes_nothing():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        raise KeyError("later")

    for _ in range(2):
        with pytest.raises(KeyError):
            f(tf.constant(1.0))
        assert v.numpy() == 1.0
        assert has_no_recorder()


def test_an_error_in_an_inner_function_reverts_the_outer_function():
    v = tf.Variable(1.0)

    @tf.function
    def inner(i):
        v.assign_add(1.0)
        return tf.gather([1.0, 2.0], i)

    @tf.function
    def outer(i):
        v.assign_add(10.0)
        return inner(i)

    for index in (0, 1, 0):
        outer(tf.constant(index))
    with pytest.raises(tf.errors.InvalidArgumentError):
        outer(tf.constant(9))
    assert v.numpy() == 34.0


def test_a_failing_host_call_reverts_everything_but_host_effects():
    v = tf.Variable(1.0)
    calls = []

    def host(x):
        calls.append(float(x))
        if len(calls) % 2 == 0:
            raise ValueError("even")
        return x

    @tf.function
    def f():
        v.assign_add(1.0)
        return tf.numpy_function(host, [v], tf.float32)

    for n in range(3):
        assert float(f()) == 2.0 + n
        with pytest.raises(tf.errors.InvalidArgumentError):
            f()
        assert v.numpy() == 2.0 + n
    assert calls == [2.0, 3.0, 3.0, 4.0, 4.0, 5.0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_interrupts_leave_no_step_half_done(kind):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    check_interrupts(kind, 1000)
