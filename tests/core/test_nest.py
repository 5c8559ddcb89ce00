"""Nested structures against tf.nest of TensorFlow 2.21."""

import collections
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import nest
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec
from gradtape.core.tensor import make_tensor

Point = namedtuple("Point", "y x")
SamePoint = namedtuple("Point", "y x")
OtherName = namedtuple("OtherName", "y x")
OtherFields = namedtuple("Point", "y z")


class SubPoint(Point):
    """A subclass of a namedtuple."""


class MyList(list):
    """A subclass of list."""


class MyTuple(tuple):
    """A subclass of tuple."""


class MyDict(dict):
    """A subclass of dict."""


@dataclass
class Plain:
    """A dataclass, which is a leaf."""

    x: Any = 1


@dataclass
class Tagged:
    """A dataclass with TensorFlow's protocol."""

    x: Any
    y: Any
    tag: str

    def __tf_flatten__(self):
        return (self.tag,), (self.x, self.y)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*components, *metadata)


class Attrs:
    """A class with fields q and p, as the attrs library makes it."""

    __attrs_attrs__ = (types.SimpleNamespace(name="q"), types.SimpleNamespace(name="p"))

    def __init__(self, q, p):
        self.q, self.p = q, p

    def __eq__(self, other):
        return (self.q, self.p) == (other.q, other.p)

    __hash__ = None


class MySequence(Sequence):
    """A sequence that is not a subclass of a built-in type."""

    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __eq__(self, other):
        return self.items == other.items

    __hash__ = None


class MyMapping(Mapping):
    """An immutable mapping."""

    def __init__(self, pairs):
        self.pairs = dict(pairs)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, key):
        return self.pairs[key]

    def __iter__(self):
        return iter(self.pairs)


def factory(**items):
    made = defaultdict(list)
    made.update(items)
    return made


# A structure, its leaves, and the same structure filled with 0, 1, 2 …
STRUCTURES = [
    ([], [], []),
    ((), [], ()),
    (
        [1, [2, (3, {"b": 4, "a": 5})], None],
        [1, 2, 3, 5, 4, None],
        [0, [1, (2, {"b": 4, "a": 3})], 5],
    ),
    ({"b": 1, "a": [2, 3]}, [2, 3, 1], {"b": 2, "a": [0, 1]}),
    ({2: "a", 1: "b"}, ["b", "a"], {2: 1, 1: 0}),
    (OrderedDict(z=1, a=2), [2, 1], OrderedDict(z=1, a=0)),
    (factory(k=1, c=2), [2, 1], factory(k=1, c=0)),
    (MyDict(b=1, a=2), [2, 1], MyDict(b=1, a=0)),
    (collections.UserDict(b=1, a=2), [2, 1], collections.UserDict(b=1, a=0)),
    (MyMapping({"b": 1, "a": 2}), [2, 1], MyMapping({"b": 1, "a": 0})),
    ({"b": 1, "a": [2, 3]}.values(), [1, 2, 3], [0, [1, 2]]),
    ({"b": 1, "a": 2}.keys(), ["b", "a"], [0, 1]),
    ({"b": 1, "a": 2}.items(), ["b", 1, "a", 2], [(0, 1), (2, 3)]),
    (Point(1, [2]), [1, 2], Point(0, [1])),
    (SubPoint(1, [2]), [1, 2], SubPoint(0, [1])),
    (Tagged(1, [2, 3], "t"), [1, 2, 3], Tagged(0, [1, 2], "t")),
    (Attrs(1, [2]), [1, 2], Attrs(0, [1])),
    (range(5, 7), [5, 6], [0, 1]),
    (deque([5, [6]]), [5, 6], deque([0, [1]])),
    (MyList([5, 6]), [5, 6], MyList([0, 1])),
    (MyTuple([5, 6]), [5, 6], MyTuple([0, 1])),
    (MySequence([5, [6]]), [5, 6], MySequence([0, [1]])),
]
every_structure = pytest.mark.parametrize(
    ("structure", "leaves", "filled"), STRUCTURES, ids=lambda value: type(value).__name__
)
LEAVES = [
    *(1, None, "ab", b"ab", {1, 2}, frozenset(), Plain(), list, Point, types.SimpleNamespace()),
    *(np.zeros(2), make_tensor(np.float32(1)), TensorShape([1, 2]), TensorSpec([1])),
]
every_leaf = pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: type(leaf).__name__)


@every_structure
def test_flatten_and_pack(structure, leaves, filled):
    assert nest.is_nested(structure)
    assert nest.flatten(structure) == leaves
    packed = nest.pack_sequence_as(structure, list(range(len(leaves))))
    assert packed == filled
    assert type(packed) is type(filled)
    assert nest.flatten(structure, expand_composites=True) == leaves


@every_leaf
def test_leaves(leaf):
    assert not nest.is_nested(leaf)
    assert nest.flatten(leaf)[0] is nest.flatten([[leaf]])[0] is leaf
    assert nest.pack_sequence_as(leaf, [5]) == nest.map_structure(lambda _: 5, leaf) == 5


def test_packing_keeps_the_order_of_keys_and_a_default_factory():
    assert list(nest.pack_sequence_as({"b": 0, "a": 0}, [1, 2])) == ["b", "a"]
    assert list(nest.pack_sequence_as(OrderedDict(z=0, a=0), [1, 2])) == ["z", "a"]
    assert nest.pack_sequence_as(factory(a=0), [1]).default_factory is list


def test_packing_does_not_change_the_structure():
    structure = MyDict(a=0)
    nest.pack_sequence_as(structure, [1])
    assert structure == {"a": 0}


def test_flatten_returns_a_new_list():
    structure = [1, 2]
    nest.flatten(structure).append(3)
    assert structure == [1, 2]


def test_items_of_a_flat_sequence_may_be_structures():
    assert nest.pack_sequence_as([1, (2, 3)], ([5], 6, 7)) == [[5], (6, 7)]
    assert nest.pack_sequence_as([1, 2], range(2)) == [0, 1]


@pytest.mark.parametrize(
    ("structure", "flat", "error"),
    [
        (1, [5, 6], ValueError),
        (1, [], ValueError),
        ([1, 2], [5], ValueError),
        ([1, 2], [5, 6, 7], ValueError),
        ([1, 2], 5, TypeError),
        ([1, 2], "ab", TypeError),
        ([1, 2], np.array([5, 6]), TypeError),
        ([1, 2], iter([5, 6]), TypeError),
        ({1: "a", "b": 2}, [5, 6], TypeError),
    ],
)
def test_sequences_that_cannot_be_packed(structure, flat, error):
    with pytest.raises(error):
        nest.pack_sequence_as(structure, flat)


def test_keys_must_be_sortable():
    with pytest.raises(TypeError, match="'<' not supported"):
        nest.flatten({1: "a", "b": 2})


@pytest.mark.parametrize(
    ("x", "y", "paired"),
    [
        (1, 2, (1, 2)),
        ([1, (2,)], [3, (4,)], [(1, 3), ((2, 4),)]),
        ({"a": 1, "b": 2}, {"b": 3, "a": 4}, {"a": (1, 4), "b": (2, 3)}),
        (OrderedDict(z=1, a=2), {"z": 3, "a": 4}, OrderedDict(z=(1, 3), a=(2, 4))),
        ({"a": 1}, MyDict(a=2), {"a": (1, 2)}),
        ({"a": 1}, MyMapping({"a": 2}), {"a": (1, 2)}),
        (Point(1, 2), SamePoint(3, 4), Point((1, 3), (2, 4))),
        ([1], MyList([2]), [(1, 2)]),
        (MyTuple([1]), MyTuple([2]), MyTuple([(1, 2)])),
        (Tagged(1, 2, "t"), Tagged(3, 4, "u"), Tagged((1, 3), (2, 4), "t")),
        ({"a": 1}.values(), {"b": 2}.values(), [(1, 2)]),
        ([], [], []),
        (1.5, None, (1.5, None)),
        (1, "a", (1, "a")),
    ],
)
def test_same_structures_are_mapped_together(x, y, paired):
    nest.assert_same_structure(x, y)
    result = nest.map_structure(lambda a, b: (a, b), x, y)
    assert result == paired
    assert type(result) is type(paired)


@pytest.mark.parametrize(
    ("x", "y", "error"),
    [
        ([1, 2], [1], ValueError),
        ([1], [1, 2], ValueError),
        ([1, 2], 1, ValueError),
        (1, [1], ValueError),
        (None, [], ValueError),
        ([[]], [1], ValueError),
        ([0, 1], np.array([0, 1]), ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
        ({"a": 1}, {"a": 1, "b": 1}, ValueError),
        (MyMapping({"a": 1}), {"b": 1}, ValueError),
        ([1, 2], (1, 2), TypeError),
        ({"a": [1]}, {"a": (1,)}, TypeError),
        ([], (), TypeError),
        ([[1], 2], [(1,)], TypeError),
        (Point(1, 2), OtherName(1, 2), TypeError),
        (Point(1, 2), OtherFields(1, 2), TypeError),
        (Point(1, 2), (1, 2), TypeError),
        (SubPoint(1, 2), Point(1, 2), TypeError),
        ((1,), MyTuple([1]), TypeError),
        ({"a": 1}.values(), [1], TypeError),
        (range(2), [1, 2], TypeError),
    ],
)
def test_structures_that_differ(x, y, error):
    with pytest.raises(error, match="don't have the same nested structure"):
        nest.assert_same_structure(x, y)
    with pytest.raises(error, match="don't have the same nested structure"):
        nest.map_structure(lambda a, b: None, x, y)


@pytest.mark.parametrize(
    ("x", "y", "paired"),
    [
        ([1, 2], (3, 4), [(1, 3), (2, 4)]),
        ((1, 2), [3, 4], ((1, 3), (2, 4))),
        ({"a": 1}, {"b": 2}, {"a": (1, 2)}),
        (Point(1, 2), {"y": 3, "x": 4}, Point((1, 4), (2, 3))),
        ({"a": 1}.values(), [2], [(1, 2)]),
    ],
)
def test_types_need_not_be_checked(x, y, paired):
    nest.assert_same_structure(x, y, check_types=False)
    assert nest.map_structure(lambda a, b: (a, b), x, y, check_types=False) == paired


def test_lengths_matter_even_if_types_do_not():
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.assert_same_structure({"a": 1}, {"a": 1, "b": 2}, check_types=False)


def test_three_structures_are_mapped_together():
    assert nest.map_structure(lambda *xs: sum(xs), [1], [2], [3]) == [6]
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.map_structure(lambda *xs: sum(xs), [1], [2], 3)


def test_results_of_a_map_may_be_structures():
    assert nest.map_structure(lambda x: [x, x], (1, {"a": None})) == ([1, 1], {"a": [None, None]})


def test_leaves_are_mapped_in_the_order_of_flatten():
    seen: list[int] = []
    nest.map_structure(seen.append, {"b": 1, "a": (2, 3)})
    assert seen == [2, 3, 1]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3, [1]), {}, TypeError, "func must be callable"),
        ((abs,), {}, ValueError, "at least one structure"),
        ((abs, [1]), {"foo": 1}, ValueError, "Only valid keyword arguments"),
    ],
)
def test_map_structure_checks_its_arguments(arguments, options, error, message):
    with pytest.raises(error, match=message):
        nest.map_structure(*arguments, **options)


@pytest.mark.parametrize(
    ("shallow", "tree", "parts"),
    [
        ([[0, 0], [0, 0]], [[[2, 2], [3, 3]], [[4, 9], 5]], [[2, 2], [3, 3], [4, 9], 5]),
        (0, [0, 1], [[0, 1]]),
        ([None], [[1]], [[1]]),
        ({"b": 0, "a": 0}, {"a": 1, "b": [2]}, [1, [2]]),
        (Point(0, 0), SamePoint([1], 2), [[1], 2]),
        ([0], MyList([[1]]), [[1]]),
        ((0,), MyTuple([1]), [1]),
    ],
)
def test_flatten_up_to(shallow, tree, parts):
    assert nest.flatten_up_to(shallow, tree) == parts
    assert nest.map_structure_up_to(shallow, lambda part: part, tree) == nest.pack_sequence_as(
        shallow, parts
    )


@pytest.mark.parametrize(
    ("shallow", "tree", "error"),
    [
        ([0, 1, 2], 0, TypeError),
        ([0], (1,), TypeError),
        (MyTuple([0]), (1,), TypeError),
        (Point(0, 0), OtherName(1, 2), TypeError),
        ([0, 1], [0, 1, 2], ValueError),
        ([0, 1, 2], [0, 1], ValueError),
        ({"a": 0}, {"b": 1}, ValueError),
        ({"a": 0}, {"a": 1, "b": 2}, ValueError),
    ],
)
def test_trees_that_cannot_be_flattened_up_to(shallow, tree, error):
    with pytest.raises(error):
        nest.flatten_up_to(shallow, tree)
    with pytest.raises(error):
        nest.map_structure_up_to(shallow, lambda part: part, tree)


def test_map_structure_up_to():
    names, data = ["even", ["odd"]], ([2, 4], [[1, 3, 5]])
    count = lambda name, part: f"{len(part)} {name}"  # noqa: E731  shorter than a def here
    with pytest.raises(TypeError):
        nest.map_structure_up_to(names, count, names, data)
    assert nest.map_structure_up_to(names, count, names, data, check_types=False) == [
        "2 even",
        ["3 odd"],
    ]
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        nest.map_structure_up_to(names, count)


def test_composites_are_leaves_unless_expanded():
    class Pair:
        def __init__(self, *parts):
            self.parts = parts

        @property
        def _type_spec(self):
            return types.SimpleNamespace(
                _to_components=lambda pair: pair.parts, _from_components=lambda parts: Pair(*parts)
            )

    pair = Pair(1, [2, 3])
    assert nest.flatten([pair]) == [pair]
    assert nest.flatten([pair], expand_composites=True) == [1, 2, 3]
    (packed,) = nest.pack_sequence_as([pair], [4, 5, 6], expand_composites=True)
    assert packed.parts == (4, [5, 6])
    doubled = nest.map_structure(lambda x, y: x + y, pair, pair, expand_composites=True)
    assert doubled.parts == (2, [4, 6])
    with pytest.raises(ValueError, match="nested structure"):
        nest.assert_same_structure(pair, 1, expand_composites=True)


@pytest.mark.parametrize(
    ("value", "dtypes"),
    [
        (tf.ragged.constant([[1, 2], [3]]), [tf.int32, tf.int64]),
        (tf.sparse.from_dense([[0, 2]]), [tf.int64, tf.int32, tf.int64]),
    ],
    ids=["ragged", "sparse"],
)
def test_specs_of_composites_have_the_structure_of_their_values(value, dtypes):
    spec = tf.type_spec_from_value(value)
    parts = tf.nest.flatten([spec], expand_composites=True)
    assert [part.dtype for part in parts] == dtypes
    assert tf.nest.flatten([spec]) == [spec]
    leaves = tf.nest.flatten(value, expand_composites=True)
    packed = tf.nest.pack_sequence_as([spec], leaves, expand_composites=True)
    assert tf.type_spec_from_value(packed[0]) == spec


def test_specs_of_tensors_and_datasets_are_leaves():
    for spec in (tf.TensorSpec([2]), tf.data.DatasetSpec(tf.TensorSpec([]))):
        assert tf.nest.flatten(spec, expand_composites=True) == [spec]
