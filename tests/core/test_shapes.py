"""TensorShape against TensorFlow 2.21, and normalization of axes."""

import copy
import pickle

import numpy as np
import pytest

from gradtape.core import shapes
from gradtape.core.dimension import Dimension
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.shapes import TensorShape, broadcast_static_shape

UNKNOWN = TensorShape(None)


@pytest.mark.parametrize(
    ("dims", "text"),
    [
        (None, "<unknown>"),
        ([], "()"),
        ([3], "(3,)"),
        ((2, None), "(2, None)"),
        (5, "(5,)"),
        (np.array([1, 2]), "(1, 2)"),
        ([np.int64(3), None], "(3, None)"),
        ((n for n in (1, 2)), "(1, 2)"),
        (Dimension(2), "(2,)"),
        ([Dimension(2), Dimension(None)], "(2, None)"),
        (TensorShape([2, None]), "(2, None)"),
    ],
)
def test_arguments_of_a_shape(dims, text):
    assert str(TensorShape(dims)) == text


def test_sizes_are_python_integers():
    assert type(TensorShape(np.array([3]))[0]) is int


@pytest.mark.parametrize(
    "dims",
    ["ab", [1.0], ["a"], [[1]], 1.5],
)
def test_sizes_must_be_integers(dims):
    with pytest.raises(TypeError, match=r"(?i)dimension"):
        TensorShape(dims)


def test_sizes_are_not_negative():
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        TensorShape([-1])


def test_representation():
    assert repr(TensorShape([2, None])) == "TensorShape([2, None])"
    assert repr(UNKNOWN) == "TensorShape(None)"


@pytest.mark.parametrize(
    ("dims", "rank", "size"), [([2, 3], 2, 6), ([], 0, 1), ([2, 0], 2, 0), ([2, None], 2, None)]
)
def test_rank_and_number_of_elements(dims, rank, size):
    shape = TensorShape(dims)
    assert (shape.rank, shape.ndims, len(shape)) == (rank, rank, rank)
    assert (shape.num_elements(), shape.is_fully_defined()) == (size, size is not None)
    assert (shape.as_list(), list(shape), shape._dims) == (dims, dims, tuple(dims))


def test_an_unknown_rank():
    assert (UNKNOWN.rank, UNKNOWN.ndims, UNKNOWN.dims, UNKNOWN._dims) == (None,) * 4
    assert (UNKNOWN.num_elements(), UNKNOWN.is_fully_defined()) == (None, False)
    for ask in (len, list, TensorShape.as_list):
        with pytest.raises(ValueError, match="unknown"):
            ask(UNKNOWN)


def test_a_shape_is_true_if_its_rank_is_known():
    assert (bool(TensorShape([])), bool(TensorShape([0])), bool(UNKNOWN)) == (True, True, False)


def test_indexing_and_slicing():
    shape = TensorShape([2, 3, None])
    assert (shape[0], shape[-1]) == (2, None)
    assert shape[1:] == TensorShape([3, None])
    assert shape[::-1] == TensorShape([None, 3, 2])
    with pytest.raises(IndexError):
        shape[3]
    with pytest.raises(TypeError):
        shape["a"]


def test_slices_of_an_unknown_shape():
    assert UNKNOWN[0] is None
    assert UNKNOWN[1:3] == TensorShape([None, None])
    assert UNKNOWN[1:] == UNKNOWN[-2:] == UNKNOWN[:-1] == UNKNOWN
    with pytest.raises(ValueError, match="Steps"):
        UNKNOWN[::2]


def test_equality():
    shape = TensorShape([2, None])
    assert shape == (2, None) == shape == [2, None]
    assert TensorShape([2]) == 2
    assert TensorShape([2]) == np.array([2])
    assert UNKNOWN == None  # noqa: E711  what is tested is `==`
    assert shape != (2, 3)
    assert shape != "ab"
    assert shape != object()
    assert TensorShape([2]) != [1.5]
    with pytest.raises(ValueError, match="must be >= 0"):
        _ = shape == [-1]


@pytest.mark.parametrize("dims", [(2, None), (), None])
def test_the_hash_is_that_of_the_tuple(dims):
    assert hash(TensorShape(dims)) == hash(dims)


def test_shapes_are_not_ordered():
    with pytest.raises(TypeError, match="not supported"):
        _ = TensorShape([1]) < TensorShape([2])


@pytest.mark.parametrize(
    ("x", "y", "joined"),
    [([1, None], [3], [1, None, 3]), ([1], (), [1]), ([1], None, None), (None, [1], None)],
)
def test_plus_concatenates_shapes(x, y, joined):
    assert TensorShape(x) + y == TensorShape(x).concatenate(y) == TensorShape(joined)
    assert x + TensorShape(y) == TensorShape(joined)


def test_a_size_is_concatenated_like_a_shape():
    assert TensorShape([1]) + 3 == TensorShape([1, 3])


def test_numpy_takes_a_shape():
    shape = TensorShape([1, 2])
    assert np.zeros(shape).shape == (1, 2)
    assert np.array(shape).tolist() == [1, 2]


@pytest.mark.parametrize("dims", [[1, None], [], None])
def test_copies_are_equal(dims):
    shape = TensorShape(dims)
    assert copy.deepcopy(shape) == pickle.loads(pickle.dumps(shape)) == shape


@pytest.mark.parametrize(
    ("x", "y", "merged", "common"),
    [
        ([1, 2], [1, 2], [1, 2], [1, 2]),
        ([1, None], [None, 2], [1, 2], [None, None]),
        ([1, None], [1, 2], [1, 2], [1, None]),
        (None, [1], [1], None),
        (None, None, None, None),
    ],
)
def test_compatible_shapes(x, y, merged, common):
    for a, b in ((x, y), (y, x)):
        assert TensorShape(a).is_compatible_with(b)
        assert TensorShape(a).merge_with(b) == TensorShape(merged)
        assert TensorShape(a).most_specific_compatible_shape(b) == TensorShape(common)
        TensorShape(a).assert_is_compatible_with(b)


@pytest.mark.parametrize(("x", "y"), [([1], [2]), ([1], [1, 1]), ([None], []), ([2, 3], [2, 4])])
def test_incompatible_shapes(x, y):
    assert not TensorShape(x).is_compatible_with(y)
    with pytest.raises(ValueError, match="are not compatible"):
        TensorShape(x).merge_with(y)
    with pytest.raises(ValueError, match="are incompatible"):
        TensorShape(x).assert_is_compatible_with(y)


def test_assertions_about_the_rank():
    shape = TensorShape([1, None])
    assert shape.with_rank(2) == shape.with_rank_at_least(1) == shape.with_rank_at_most(2) == shape
    assert UNKNOWN.with_rank(2) == TensorShape([None, None])
    assert UNKNOWN.with_rank_at_least(2) == UNKNOWN.with_rank_at_most(2) == UNKNOWN
    for check in (UNKNOWN.assert_has_rank, shape.assert_has_rank):
        check(2)
    UNKNOWN.assert_same_rank([1])
    shape.assert_same_rank([2, 3])


@pytest.mark.parametrize(
    ("method", "argument", "message"),
    [
        ("assert_has_rank", 3, r"Shape \(1, None\) must have rank 3"),
        ("with_rank", 3, r"Shape \(1, None\) must have rank 3"),
        ("with_rank_at_least", 3, "must have rank at least 3"),
        ("with_rank_at_most", 1, "must have rank at most 1"),
        ("assert_same_rank", [1], r"Shapes \(1, None\) and \(1,\) must have the same rank"),
    ],
)
def test_assertions_that_fail(method, argument, message):
    with pytest.raises(ValueError, match=message):
        getattr(TensorShape([1, None]), method)(argument)


def test_full_definition_can_be_asserted():
    TensorShape([1, 2]).assert_is_fully_defined()
    with pytest.raises(ValueError, match=r"Shape \(1, None\) is not fully defined"):
        TensorShape([1, None]).assert_is_fully_defined()


def test_supertypes():
    shape = TensorShape([1, 2])
    assert shape.most_specific_common_supertype([TensorShape([1, 3])]) == TensorShape([1, None])
    assert shape.most_specific_common_supertype([shape, TensorShape([1])]) == UNKNOWN
    assert shape.most_specific_common_supertype([]) == shape
    assert shape.most_specific_common_supertype([[1, 3]]) is None


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2], [1, None], True),
        ([1, None], [1, 2], False),
        ([1, 2], None, True),
        (None, None, True),
        (None, [1], False),
        ([1], [1, 2], False),
    ],
)
def test_subtypes(x, y, expected):
    assert TensorShape(x).is_subtype_of(TensorShape(y)) is expected


def test_a_list_is_no_supertype():
    assert not TensorShape([1]).is_subtype_of([1])


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 3], [4, 1], [4, 3]),
        ([5, 1], [3], [5, 3]),
        ([None, 3], [2, 3], [2, 3]),
        ([None, 3], [1, 3], [None, 3]),
        ([None], [None], [None]),
        ([0], [None], [None]),
        ([0], [1], [0]),
        ([5, 1], [None], [5, None]),
        ([], [2], [2]),
        (None, [2, 3], None),
    ],
)
def test_shapes_broadcast(x, y, expected):
    for a, b in ((x, y), (y, x)):
        shape = broadcast_static_shape(TensorShape(a), TensorShape(b))
        assert shape == TensorShape(expected)


@pytest.mark.parametrize(("x", "y"), [([1, 3], [2]), ([0], [2])])
def test_shapes_that_do_not_broadcast(x, y):
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        broadcast_static_shape(TensorShape(x), TensorShape(y))


def test_arithmetic_of_dimensions():
    seven = Dimension(7)
    assert repr([seven + 1, 1 + seven, seven - 2, 9 - seven]) == str(
        [Dimension(8), Dimension(8), Dimension(5), Dimension(2)]
    )
    assert [int(seven * 2), int(seven // 2), int(seven % 4), int(15 // seven)] == [14, 3, 3, 2]
    assert (seven * None).value is (Dimension(None) + 1).value is None
    with pytest.raises(ValueError, match="must be >= 0"):
        seven - 8
    with pytest.raises(TypeError, match="/"):
        seven / 2


def test_comparison_of_dimensions():
    three = Dimension(3)
    assert three == 3
    assert three != 4
    assert three < 4 <= Dimension(4)
    assert (three == None) is (three < None) is (Dimension(None) == Dimension(None)) is None  # noqa: E711  what is tested is `==`
    with pytest.raises(TypeError):
        hash(three)


def test_dimensions_of_a_shape():
    assert repr(TensorShape([1, None]).dims) == "[Dimension(1), Dimension(None)]"
    assert (str(Dimension(None)), str(Dimension(3)), bool(Dimension(0))) == ("?", "3", False)
    assert Dimension(3).merge_with(None).value == Dimension(None).merge_with(3).value == 3
    assert not Dimension(3).is_compatible_with(4)
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        Dimension(3).merge_with(4)
    with pytest.raises(TypeError, match="Dimension value must be integer or None"):
        Dimension("a")


def test_a_tuple_is_not_checked():
    dims = (2, None)
    assert TensorShape.from_tuple(dims)._dims is dims
    assert TensorShape.from_tuple(None) == UNKNOWN


@pytest.mark.parametrize(("axis", "expected"), [(0, -3), (2, -1), (-1, -1), (-3, -3), (True, -2)])
def test_axes_count_from_the_end(axis, expected):
    assert shapes.normalize_axis(axis, 3, "sum") == expected
    assert shapes.normalize_axis(np.int64(axis), 3, "sum") == expected


@pytest.mark.parametrize(("axis", "rank"), [(3, 3), (-4, 3), (0, 0), (-1, 0)])
def test_axes_must_exist(axis, rank):
    with pytest.raises(InvalidArgumentError, match=f"sum: axis must lie in .* Received {axis}"):
        shapes.normalize_axis(axis, rank, "sum")


def test_an_axis_is_an_integer():
    with pytest.raises(TypeError):
        shapes.normalize_axis(1.5, 3, "sum")


@pytest.mark.parametrize(
    ("axis", "expected"),
    [(None, (-3, -2, -1)), (1, (-2,)), ([0, -1], (-3, -1)), (np.array([1]), (-2,)), ((), ())],
)
def test_several_axes(axis, expected):
    assert shapes.normalize_axes(axis, 3, "sum") == expected


def test_axes_are_unique():
    with pytest.raises(InvalidArgumentError, match="unique"):
        shapes.normalize_axes([0, -3], 3, "sum")
