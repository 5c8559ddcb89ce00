"""TensorSpec and TypeSpec against TensorFlow 2.21."""

import copy
import pickle

import numpy as np
import pytest

from gradtape.core.dtypes import float32, float64, int32
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor, make_tensor


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([2],), "TensorSpec(shape=(2,), dtype=tf.float32, name=None)"),
        ((None,), "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"),
        (([None, 3], "int32", "x"), "TensorSpec(shape=(None, 3), dtype=tf.int32, name='x')"),
        (((2,), np.float64), "TensorSpec(shape=(2,), dtype=tf.float64, name=None)"),
        ((2,), "TensorSpec(shape=(2,), dtype=tf.float32, name=None)"),
    ],
)
def test_representation(arguments, text):
    assert repr(TensorSpec(*arguments)) == str(TensorSpec(*arguments)) == text


def test_attributes():
    spec = TensorSpec([None, 3], float64, name="x")
    assert (spec.shape, spec.dtype, spec.name) == (TensorShape([None, 3]), float64, "x")
    assert spec.value_type is Tensor
    assert isinstance(spec, TypeSpec)
    with pytest.raises(AttributeError):
        spec.shape = None


@pytest.mark.parametrize(
    ("arguments", "error"), [(([-1],), ValueError), (("ab",), TypeError), (([1], "no"), TypeError)]
)
def test_bad_arguments(arguments, error):
    with pytest.raises(error):
        TensorSpec(*arguments)


def test_equality_and_hash():
    spec = TensorSpec([2])
    assert spec == TensorSpec((2,), "float32")
    assert spec != TensorSpec([2], name="a")
    assert spec != TensorSpec([2], int32)
    assert spec != [2]
    assert hash(spec) == hash(TensorSpec([2], name="a"))
    assert len({spec, TensorSpec([2]), TensorSpec([2], name="a")}) == 2


@pytest.mark.parametrize("again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_are_equal(again):
    spec = TensorSpec([2, None], int32, "n")
    assert again(spec) == spec


def test_a_spec_from_a_tensor():
    tensor = make_tensor(np.zeros((2, 3), np.float32))
    assert TensorSpec.from_tensor(tensor) == TensorSpec([2, 3])
    assert TensorSpec.from_tensor(tensor, name="n") == TensorSpec([2, 3], name="n")


@pytest.mark.parametrize(
    "value",
    [np.zeros(2), 1.0, None, TensorSpec([2])],
)
def test_a_spec_is_made_from_tensors_only(value):
    with pytest.raises(ValueError, match=r"`tensor` should be a tf\.Tensor"):
        TensorSpec.from_tensor(value)


def test_a_spec_from_another():
    spec = TensorSpec([2], int32, name="old")
    assert TensorSpec.from_spec(spec) == spec
    assert TensorSpec.from_spec(spec, "new") == TensorSpec([2], int32, name="new")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (TensorSpec([2, 3], name="any"), True),
        (TensorSpec(None), True),
        (TensorSpec([2, 4]), False),
        (TensorSpec([2, 3], int32), False),
        (make_tensor(np.zeros((2, 3), np.float32)), True),
        (make_tensor(np.zeros((2, 4), np.float32)), False),
        (make_tensor(np.zeros((2, 3), np.int32)), False),
        (np.zeros((2, 3), np.float32), False),
        (1.0, False),
        (None, False),
    ],
)
def test_compatibility(value, expected):
    assert TensorSpec([None, 3]).is_compatible_with(value) is expected


def test_the_common_supertype_of_two_specs():
    spec = TensorSpec([2, 3], name="a")
    assert spec.most_specific_compatible_type(spec) == spec
    assert spec.most_specific_compatible_type(TensorSpec([2, 4], name="a")) == TensorSpec(
        [2, None], name="a"
    )
    assert TensorSpec([2]).most_specific_compatible_type(TensorSpec([2, 3])) == TensorSpec(None)


@pytest.mark.parametrize(
    "other",
    [TensorSpec([2], int32), TensorSpec([2], name="a"), 3],
)
def test_specs_without_a_common_supertype(other):
    assert TensorSpec([2]).most_specific_common_supertype([other]) is None
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        TensorSpec([2]).most_specific_compatible_type(other)


def test_the_common_supertype_of_many_specs():
    spec = TensorSpec([2, 3])
    assert spec.most_specific_common_supertype([]) == spec
    assert spec.most_specific_common_supertype(
        [TensorSpec([2, 4]), TensorSpec([1, 3])]
    ) == TensorSpec([None, None])


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (TensorSpec([2, 3]), TensorSpec([None, 3]), True),
        (TensorSpec([None, 3]), TensorSpec([2, 3]), False),
        (TensorSpec([2]), TensorSpec([2], name="a"), True),
        (TensorSpec([2], name="a"), TensorSpec([2]), False),
        (TensorSpec([2]), TensorSpec([2], int32), False),
        (TensorSpec([2]), 2, False),
    ],
)
def test_subtypes(x, y, expected):
    assert x.is_subtype_of(y) is expected


class PairSpec(TypeSpec):
    """A user-defined spec with two arguments."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    value_type = property(lambda self: tuple)
    _component_specs = property(lambda self: (self.a, self.b))

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components

    def _serialize(self):
        return self.a, self.b


def test_a_type_spec_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        TypeSpec()


def test_user_defined_specs_compare_by_their_arguments():
    assert repr(PairSpec(1, [2])) == "PairSpec(1, [2])"
    assert PairSpec(1, [2]) == PairSpec(1, [2])
    assert PairSpec(1, [2]) != PairSpec(1, (2,))
    assert hash(PairSpec(1, [2])) == hash(PairSpec(1, [2]))


def test_user_defined_specs_are_compatible_if_their_arguments_are():
    spec = PairSpec(TensorShape([None]), float32)
    assert spec.is_compatible_with(PairSpec(TensorShape([2]), float32))
    assert not spec.is_compatible_with(PairSpec(TensorShape([2, 3]), float32))
    assert not spec.is_compatible_with(TensorSpec([2]))
    assert PairSpec(TensorShape([2]), float32).is_subtype_of(spec)
    assert not spec.is_subtype_of(PairSpec(TensorShape([2]), float32))
    assert not PairSpec(1, 2).is_subtype_of(PairSpec(1, 3))


def test_user_defined_specs_are_generalised_argument_by_argument():
    one, two = (PairSpec(TensorShape([n]), {"k": [TensorShape([n])]}) for n in (1, 2))
    assert one.most_specific_compatible_type(two) == PairSpec(
        TensorShape([None]), {"k": [TensorShape([None])]}
    )
    assert one.most_specific_common_supertype([PairSpec(TensorShape([1]), 3)]) is None
    with pytest.raises(ValueError, match="No TypeSpec is compatible with both"):
        PairSpec(1, 2).most_specific_compatible_type(PairSpec(1, 3))
