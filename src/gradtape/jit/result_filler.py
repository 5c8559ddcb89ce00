"""Fillers: functions that put result tensors into the structure of the result of a function.

The structure is known when the function is traced. So a filler is composed once, of functions for
its parts, and a call does not look at types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from operator import call, itemgetter
from typing import Any

from gradtape.core.structure_kind import KIND_OF_TYPE, kind_of, sort_keys

Filler = Callable[[list[Any]], Any]


def make_filler(structure: Any, places: Iterator[int | None]) -> Filler:
    """Make a function of a list of tensors that makes a structure like `structure` of them.

    `places` has the position of each leaf in the list, or None for a leaf that is always the same.
    """
    kind = kind_of(structure, expand_composites=True)
    if kind is None:
        place = next(places)
        return itemgetter(place) if place is not None else lambda tensors: structure
    parts = [make_filler(child, places) for child in kind.children(structure)]
    if KIND_OF_TYPE[type(structure)] is None:  # a composite tensor
        (components,) = parts
        build = structure._type_spec._from_components
        return lambda tensors: build(components(tensors))
    if type(structure) is dict:
        by_key = dict(zip(sort_keys(structure), parts, strict=True))
        keys, parts = tuple(structure), [by_key[key] for key in structure]
        return lambda tensors: dict(zip(keys, map(call, parts, repeat(tensors)), strict=True))
    if type(structure) in (tuple, list):
        make = type(structure)
        return lambda tensors: make(map(call, parts, repeat(tensors)))
    rebuild = kind.rebuild
    return lambda tensors: rebuild(structure, list(map(call, parts, repeat(tensors))))
