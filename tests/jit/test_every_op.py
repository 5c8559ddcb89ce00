"""Every op in a function computes the same as eagerly, for all values, with one trace."""

import re

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import nest
from tests.jit.every_op import programs

PROGRAMS = programs()

# Programs that are traced again for other values although no shape changes: integers and thresholds
# that are static parameters of the op, so that Python must read them.
KNOWN = re.compile(
    r"""reduce/sum/axis_tensor.*                     # the axis of a reduction
    |array/tf\.space_to_batch\(x,\ \[2,\ 2\],\ c\)   # paddings
    |image/tf\.image\.non_max_suppression\(b,\ s,\ 3,\ t\)  # a threshold
    """,
    re.VERBOSE,
)


def arrays_of(result):
    leaves = nest.flatten(result, expand_composites=True)
    return [leaf.numpy() if hasattr(leaf, "numpy") else leaf for leaf in leaves]


def assert_same(got, wanted, values=True):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        if not hasattr(b, "dtype"):
            assert np.array_equal(a, b)
            continue
        assert np.shape(a) == np.shape(b)
        assert a.dtype == b.dtype
        if not values:
            continue
        if b.dtype.kind in "Obiu":
            np.testing.assert_array_equal(a, b)
        else:
            wide = np.complex128 if b.dtype.kind == "c" else np.float64
            small = b.dtype.itemsize == 2
            np.testing.assert_allclose(
                np.asarray(a, wide), np.asarray(b, wide), *((2e-2, 1e-2) if small else (1e-5, 1e-6))
            )


def outcome(function, tensors):
    try:
        return arrays_of(function(*tensors)), None
    except Exception as error:
        return None, error


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_computes_the_same_as_its_op_and_is_traced_once(name):
    program = PROGRAMS[name]
    python = program.function()
    function = tf.function(python)
    shapes = set()
    for tensors in program.calls():
        wanted, error = outcome(python, tensors)
        got, complaint = outcome(function, tensors)
        if error is not None:
            assert isinstance(complaint, type(error)), f"{complaint!r} instead of {error!r}"
            continue
        assert complaint is None, repr(complaint)
        assert_same(got, wanted, values=not name.startswith("stream/"))
        shapes.add(tuple(np.shape(array) for array in wanted))
    traces = function.experimental_get_tracing_count()
    if KNOWN.fullmatch(name):
        assert traces > len(shapes)  # else it need not be listed above
    else:
        assert traces <= len(shapes)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n.startswith(("array/tf", "math/tf"))])
def test_gradients_through_a_function_equal_those_of_its_op(name):
    program = PROGRAMS[name]
    python = program.function()
    function = tf.function(python)

    def gradients(called, tensors):
        sources = [t for t in tensors if t.dtype.is_floating]
        with tf.GradientTape() as tape:
            for source in sources:
                tape.watch(source)
            results = nest.flatten(called(*tensors))
            targets = [tf.reduce_sum(r * 1.5) for r in results if r.dtype.is_floating]
        found = tape.gradient(targets, sources, unconnected_gradients="zero") if targets else []
        return [tf.convert_to_tensor(g) for g in found]

    for tensors in program.calls():
        wanted, error = outcome(lambda *ts: gradients(python, ts), tensors)
        if error is None:
            assert_same(arrays_of(gradients(function, tensors)), wanted)
