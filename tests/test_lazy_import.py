"""Which modules an import and a first training step load; the others wait for their use."""

import subprocess
import sys

import pytest

STEP = """
x, y = tf.ones((8, 4)), tf.ones((8, 1))
w, v = tf.Variable(tf.ones((4, 16))), tf.Variable(tf.ones((16, 1)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((tf.tanh(x @ w) @ v - y) ** 2)
for one, g in zip((w, v), tape.gradient(loss, (w, v))):
    one.assign_sub(0.1 * g)
"""
OF_RAGGED = "core.nest core.ragged core.sparse_tensor core.spec"
OF_TRAINING = "ops.reduce ops.shape ops.gather_scatter devices state tape"
NEVER = """
    compile debug dropin files func graph interop jit pipeline ops.einsum ops.special ops.no_nan
    ops.linalg.decomposition ops.signal tf.api tf.linalg.linear_operator tf.op_protocol
"""


def imported_modules(program):
    """The modules that a new process imports for `program`, after NumPy."""
    code = (
        "import sys, numpy\nbefore = set(sys.modules)\nimport gradtape as tf\n"
        f"{program}\nprint(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("program", "most", "absent"),
    [("", 50, f"{OF_RAGGED} {OF_TRAINING} {NEVER}"), (STEP, 110, NEVER)],
    ids=["import", "first_step"],
)
def test_modules_wait_for_their_first_use(program, most, absent):
    modules = imported_modules(program)
    own = [name for name in modules if name.startswith("gradtape.")]
    assert len(own) <= most, own
    unexpected = tuple(f"gradtape.{name}." for name in absent.split())
    assert [name for name in own if f"{name}.".startswith(unexpected)] == []
    assert not {"dataclasses", "logging", "re._parser", "string"} & set(modules)


def test_a_sparse_and_a_ragged_tensor_have_operators_before_other_modules_are_used():
    program = (
        "a = tf.SparseTensor([[0, 1]], [3.0], [1, 2])\n"
        "print((a * [[2.0, 2.0]]).values.numpy(), (a / [[2.0, 2.0]]).values.numpy())\n"
        "r = tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])\n"
        "print((1 - r).to_list(), (-r).to_list(), (r == r).to_list())"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import gradtape as tf\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "[6.] [1.5]",
        "[[0, -1], [-2]] [[-1, -2], [-3]] [[True, True], [True]]",
    ]


def test_a_message_is_logged_by_the_logger_of_gradtape(caplog):
    import gradtape as tf

    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1))
    assert [record.name for record in caplog.records] == ["gradtape"]
