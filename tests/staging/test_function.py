"""tf.function before it can compile."""

import pytest

import gradtape as tf


@pytest.fixture
def eager():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@tf.function(
    input_signature=[tf.TensorSpec((), "float32")], jit_compile=True, reduce_retracing=True
)
def double(x):
    """Twice `x`."""
    return x * 2


class Doubler:
    """An object with a function for a method."""

    factor = 2

    @tf.function
    def __call__(self, x):
        return x * self.factor


def test_a_call_says_what_to_do():
    with pytest.raises(
        NotImplementedError, match=r"tf\.function: double .*run_functions_eagerly\(True\)"
    ):
        double(1.0)
    with pytest.raises(NotImplementedError, match="double"):
        double.get_concrete_function()


@pytest.mark.usefixtures("eager")
def test_run_eagerly_it_is_the_python_function():
    assert tf.config.functions_run_eagerly()
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = double(x)
    assert tape.gradient(y, x) == 2.0
    assert Doubler()(tf.constant(3.0)) == 6.0


def test_a_function_keeps_the_name_and_the_signature():
    assert double.__doc__ == "Twice `x`."
    assert double.name == double.__name__ == "double"
    assert double.python_function(2) == 4
    assert double.input_signature == [tf.TensorSpec((), "float32")]
    assert double.experimental_get_tracing_count() == 0


def test_only_callables_can_be_functions():
    with pytest.raises(TypeError, match="not a callable"):
        tf.function(3)
