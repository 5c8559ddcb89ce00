"""Flatten, map and pack nested structures: lists, tuples, dicts and similar types.

The type of a value decides whether it is a structure: sequences other than strings, mappings
(sorted by key), mapping views, namedtuples, attrs classes, and classes with `__tf_flatten__`. All
other values are leaves: tensors, arrays, sets, None. optree is not used: it registers exact types
where TensorFlow checks abstract base classes, and it does not sort an OrderedDict.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from typing import Any

from gradtape.core.structure_kind import FIELDS, KIND_OF_TYPE, StructureKind, kind_of, sort_keys


def _are_leaves(children: list[Any]) -> bool:
    return not any(map(KIND_OF_TYPE.__getitem__, map(type, children)))


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure rather than a leaf.

    Args:
        seq: any value.

    Returns:
        A bool.

    Example:
        >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested(1)
        (True, False)
    """
    return KIND_OF_TYPE[type(seq)] is not None


def children_of(structure: Any) -> list[Any]:
    """The entries of a structure, one level deep; those of a mapping in the order of its keys."""
    kind = KIND_OF_TYPE[type(structure)]
    return [] if kind is None else kind.children(structure)


def rebuild(structure: Any, children: list[Any]) -> Any:
    """A structure like `structure` with other entries, in the order of `children_of`."""
    kind = KIND_OF_TYPE[type(structure)]
    assert kind is not None
    return kind.rebuild(structure, children)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure`.

    With `expand_composites`, a value with a `_type_spec` (never a plain tensor) is replaced by its
    components.

    Args:
        structure: nested lists, tuples, dicts or data classes, or a leaf.
        expand_composites: whether ragged and sparse tensors are taken apart.

    Returns:
        A list.

    Example:
        >>> tf.nest.flatten({"b": [1, 2], "a": 3})
        [3, 1, 2]
    """
    kind = kind_of(structure, expand_composites)
    if kind is None:
        return [structure]
    children = kind.children(structure)
    if not expand_composites and _are_leaves(children):
        return children
    leaves: list[Any] = []
    try:
        for child in children:
            _append_leaves(child, expand_composites, leaves)
    except RecursionError:
        problem = find_nesting_problem(structure)
        if problem is None:
            raise
        raise ValueError(f"flatten: the structure {problem}. Pass one of finite depth.") from None
    return leaves


def _append_leaves(structure: Any, expand_composites: bool, leaves: list[Any]) -> None:
    kind = kind_of(structure, expand_composites)
    if kind is None:
        leaves.append(structure)
    else:
        for child in kind.children(structure):
            _append_leaves(child, expand_composites, leaves)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like `structure` with the leaves in `flat_sequence`.

    Args:
        structure: the nesting to reproduce.
        flat_sequence: a list of leaves, in the order of `flatten`.
        expand_composites: whether ragged and sparse tensors are taken apart.

    Returns:
        A structure of the kind of `structure`.

    Example:
        >>> tf.nest.pack_sequence_as({"a": 0, "b": (0, 0)}, [1, 2, 3])
        {'a': 1, 'b': (2, 3)}
    """
    kind = KIND_OF_TYPE[type(flat_sequence)]
    if kind is None:
        raise TypeError(
            "pack_sequence_as: flat_sequence must be a sequence. "
            f"Received {flat_sequence!r:.100} of type {type(flat_sequence)}."
        )
    leaves, values = flatten(structure, expand_composites), kind.children(flat_sequence)
    if len(leaves) != len(values):
        raise ValueError(
            f"Could not pack sequence. Structure had {len(leaves)} atoms, but flat_sequence had "
            f"{len(values)} items. Structure: {structure!r:.100}, flat_sequence: {values!r:.100}."
        )
    return _fill_leaves(structure, iter(values), expand_composites)


def _fill_leaves(structure: Any, values: Iterator[Any], expand_composites: bool) -> Any:
    kind = kind_of(structure, expand_composites)
    if kind is None:
        return next(values)
    children = kind.children(structure)
    if not expand_composites and _are_leaves(children):
        return kind.rebuild(structure, list(islice(values, len(children))))
    return kind.rebuild(
        structure, [_fill_leaves(child, values, expand_composites) for child in children]
    )


def map_structure(
    func: Callable[..., Any],
    *structure: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    **unknown: Any,
) -> Any:
    """Apply `func` to corresponding leaves; the result has the structure of the first.

    Args:
        func: function of one leaf of each structure.
        check_types: whether the types of containers must agree.
        expand_composites: whether ragged and sparse tensors are taken apart.
        *structure: structures that are nested alike.
        **unknown: the other options must be given by name.

    Returns:
        A structure like the first one.

    Example:
        >>> tf.nest.map_structure(lambda a, b: a + b, [1, (2, 3)], [10, (20, 30)])
        [11, (22, 33)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    if unknown:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            + ", ".join(f"`{name}`" for name in unknown)
        )
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    leaves = [flatten(each, expand_composites) for each in structure]
    results = [func(*each) for each in zip(*leaves, strict=True)]
    return _fill_leaves(structure[0], iter(results), expand_composites)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise ValueError if the two are nested differently, TypeError if only their types differ.

    Args:
        nest1: a structure.
        nest2: another one.
        check_types: whether the types of containers must agree, too.
        expand_composites: whether ragged and sparse tensors are taken apart.

    Returns:
        None.

    Example:
        >>> tf.nest.assert_same_structure({"a": 1}, {"a": tf.zeros([2])})
    """
    try:
        _check_match(nest1, nest2, check_types, expand_composites)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1!r:.500}\n\nSecond structure: {nest2!r:.500}\n\n"
            f"More specifically: {error}"
        ) from None


def _check_match(a: Any, b: Any, check_types: bool, expand_composites: bool) -> None:
    kind_a, kind_b = kind_of(a, expand_composites), kind_of(b, expand_composites)
    if kind_a is None and kind_b is None:
        return
    if kind_a is None or kind_b is None:
        nested, leaf = (b, a) if kind_a is None else (a, b)
        raise ValueError(f"{nested!r:.100} is a sequence, while {leaf!r:.100} is not.")
    if check_types:
        if not _is_same_type(a, b):
            raise TypeError(f"the sequence types {type(a)} and {type(b)} differ.")
        if isinstance(a, Mapping) and set(a) != set(b):
            raise ValueError(f"the keys {list(a)} and {list(b)} differ.")
    xs, ys = kind_a.children(a), kind_b.children(b)
    for x, y in zip(xs, ys, strict=False):
        _check_match(x, y, check_types, expand_composites)
    if len(xs) != len(ys):
        raise ValueError(f"the numbers of elements, {len(xs)} and {len(ys)}, differ.")


def _is_same_type(a: Any, b: Any) -> bool:
    """Whether the types are equal, both lists, both mappings, or equivalent namedtuples."""
    return (
        type(a) is type(b)
        or (isinstance(a, list) and isinstance(b, list))
        or (isinstance(a, Mapping) and isinstance(b, Mapping))
        or (
            type(a).__base__ is type(b).__base__ is tuple
            and type(a).__name__ == type(b).__name__
            and getattr(a, "_fields", a) == getattr(b, "_fields", b)
        )
    )


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """The parts of `input_tree` at the leaves of `shallow_tree`."""
    kind = kind_of(shallow_tree, expand_composites)
    if kind is None:
        return [input_tree]
    theirs = kind_of(input_tree, expand_composites)
    if theirs is None:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: {type(input_tree)}."
        )
    shallows, inputs = kind.children(shallow_tree), theirs.children(input_tree)
    if check_types and not (
        isinstance(input_tree, type(shallow_tree)) or _is_same_type(shallow_tree, input_tree)
    ):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if len(shallows) != len(inputs):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(inputs)}, while shallow structure has length {len(shallows)}."
        )
    if isinstance(shallow_tree, Mapping) and set(shallow_tree) - set(input_tree):
        raise ValueError(
            "The shallow_tree's keys are not a subset of the input_tree's keys. The input_tree "
            f"lacks {sorted(set(shallow_tree) - set(input_tree))}."
        )
    parts: list[Any] = []
    for shallow, child in zip(shallows, inputs, strict=True):
        parts += flatten_up_to(shallow, child, check_types, expand_composites)
    return parts


def map_structure_up_to(
    shallow_tree: Any,
    func: Callable[..., Any],
    *inputs: Any,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any:
    """Apply `func` to the parts of `inputs` at the leaves of `shallow_tree`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, each, check_types, expand_composites) for each in inputs]
    results = [func(*each) for each in zip(*parts, strict=True)]
    return _fill_leaves(shallow_tree, iter(results), expand_composites)


def flatten_with_tuple_paths(structure: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield each leaf of `structure` with its path of keys, fields and positions."""
    kind = kind_of(structure, False)
    if kind is None:
        yield (), structure
        return
    for key, child in zip(_child_labels(structure, kind), kind.children(structure), strict=False):
        for path, leaf in flatten_with_tuple_paths(child):
            yield (key, *path), leaf


def _child_labels(structure: Any, kind: StructureKind) -> Any:
    if isinstance(structure, Mapping):
        return sort_keys(structure)
    return structure._fields if kind is FIELDS else count()


_DEEPEST = 200  # levels of nesting


def find_nesting_problem(value: Any) -> str | None:
    """Why recursion over a nested structure does not end; None if it does."""
    path: list[tuple[int, Iterator[Any]]] = []
    on_path: set[int] = set()
    done: set[int] = set()
    entries: Iterator[Any] = iter((value,))
    while True:
        for entry in entries:
            inner = iterate_structure(entry)
            if inner is None or id(entry) in done:
                continue
            if id(entry) in on_path:
                return "contains itself"
            path.append((id(entry), entries))
            on_path.add(id(entry))
            entries = inner
            break
        else:
            if not path:
                return None
            key, entries = path.pop()
            on_path.remove(key)
            done.add(key)
        if len(path) > _DEEPEST:
            return f"is nested more than {_DEEPEST} levels deep"


def iterate_structure(value: Any) -> Iterator[Any] | None:
    """The entries of a list, tuple or mapping; None of other values."""
    if isinstance(value, (list, tuple)):
        return iter(value)
    return iter(list(value.values())) if isinstance(value, Mapping) else None
