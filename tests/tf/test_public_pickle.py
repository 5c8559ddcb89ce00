"""Public functions and classes can be pickled."""

import pickle
import types

import pytest

import gradtape as tf

PARTS = "gradtape.tf.api", "gradtape.tf.data", "gradtape.tf.distribute", "gradtape.tf.math.special"


def list_public(module, prefix="tf", depth=0):
    """Public functions and classes of a namespace and those below it, by their full names."""
    for name in dir(module):
        if name.startswith("_"):
            continue
        try:
            value = getattr(module, name)
        except ImportError:  # names of Keras, which is not installed here
            continue
        if isinstance(value, types.ModuleType):
            if depth < 3 and value.__name__.startswith(PARTS):
                yield from list_public(value, f"{prefix}.{name}", depth + 1)
        elif isinstance(value, (type, types.FunctionType)):
            yield f"{prefix}.{name}", value


PUBLIC = dict(list_public(tf))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_names_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(PUBLIC[name])) is PUBLIC[name]


def test_functions_have_their_public_names():
    assert len(PUBLIC) > 1000
    for name in ("abs", "nn.relu", "math.special.dawsn", "bitwise.invert", "nest.map_structure"):
        assert PUBLIC[f"tf.{name}"].__name__ == name.rpartition(".")[2]
