"""Sums of products over named or numbered axes: einsum and tensordot."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import normalize_axis
from gradtape.core.tensor import Tensor
from gradtape.ops import shape as s
from gradtape.ops.einsum import einsum as contract
from gradtape.ops.linalg import diagonal as diagonal_ops
from gradtape.ops.linalg import matmul as matmul_ops
from gradtape.tf.linalg.matmul import MATMUL_DTYPES
from gradtape.tf.public_op import check_dtype, check_same_dtype, convert_pair

ELLIPSIS_LABEL = 0x3B1  # Greek letters are the labels of axes under an ellipsis


@public
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sum of products of tensors over labelled axes.

    Args:
        equation: labels of the axes of each input, separated by commas, then `->` and the labels
            of the result. Without the arrow, the result has the labels that occur once, in
            alphabetical order. `...` stands for axes that broadcast. A label that occurs twice in
            one input takes a diagonal.
        *inputs: tensors of one dtype.
        **kwargs: `optimize` and `name` have no effect here.

    Returns:
        A tensor.

    Raises:
        ValueError: if the equation is not well formed.
        InvalidArgumentError: if a shape does not match the equation.

    Example:
        >>> tf.einsum("ij,j->i", [[1, 2], [3, 4]], [10, 1]).numpy()
        array([12, 34], dtype=int32)
    """
    unknown = set(kwargs) - {"optimize", "name"}
    if unknown:
        raise TypeError(f"einsum: unexpected keyword argument {unknown.pop()!r}.")
    tensors = [convert(x) for x in inputs]
    for k, t in enumerate(tensors):
        check_same_dtype("Einsum", tensors[0], t, k)
    plain, names, output = label_axes(equation, tuple(t._array.shape for t in tensors))
    if plain:
        return contract(*tensors, equation=",".join(names) + "->" + output)
    operands = [take_diagonals(t, name) for t, name in zip(tensors, names, strict=True)]
    sizes: dict[str, int] = {}
    for t, name in operands:
        for label, size in zip(name, t._array.shape, strict=True):
            sizes[label] = max(size, sizes.get(label, size)) if size else 0
    operands = [drop_broadcast_axes(t, name, sizes) for t, name in operands]
    explicit = ",".join(name for _, name in operands) + "->" + output
    return contract(*(t for t, _ in operands), equation=explicit)


@lru_cache(maxsize=4096)
def label_axes(
    equation: str, shapes: tuple[tuple[int, ...], ...]
) -> tuple[bool, tuple[str, ...], str]:
    """Replace each ellipsis by labels, so that every axis has one.

    Returns whether the equation is plain, the labels of each input, and those of the result. An
    equation is plain if no input has a label twice and no axis broadcasts.
    """
    labels, output = parse_equation(equation, len(shapes))
    ranks = [
        count_ellipsis_axes(
            label, shape, k, ValueError if len(shapes) > 2 else InvalidArgumentError
        )
        for k, (label, shape) in enumerate(zip(labels, shapes, strict=True))
    ]
    dots = max(ranks, default=0)
    if dots and "..." not in output:
        raise InvalidArgumentError(
            "einsum: the result must have an ellipsis if an input's ellipsis covers axes. "
            f"Received {equation!r}."
        )
    names = [
        label.replace("...", ellipsis_labels(dots)[dots - rank :])
        for label, rank in zip(labels, ranks, strict=True)
    ]
    sizes: dict[str, int] = {}
    plain = all(len(set(name)) == len(name) for name in names)
    for name, shape in zip(names, shapes, strict=True):
        plain &= record_sizes(sizes, name, shape, dots, equation)
    return plain, tuple(names), output.replace("...", ellipsis_labels(dots))


def ellipsis_labels(n: int) -> str:
    """Labels for `n` axes under an ellipsis."""
    return "".join(chr(ELLIPSIS_LABEL + k) for k in range(n))


def parse_equation(equation: str, count: int) -> tuple[list[str], str]:
    """Split an equation into the labels of each input and of the result, after checks."""
    text = equation.replace(" ", "")
    left, arrow, output = text.partition("->")
    labels = left.split(",")
    if len(labels) != count:
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(labels)}')
    bare = [label.replace("...", "") for label in (*labels, output)]
    if not all(label == "" or (label.isalpha() and label.isascii()) for label in bare):
        raise ValueError(
            f"einsum: labels must be letters and at most one '...' each. Received {equation!r}."
        )
    letters = "".join(bare[:-1])
    if not arrow:
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        if any("..." in label for label in labels):
            output = "..." + output
        bare[-1] = output.replace("...", "")
    if len(set(bare[-1])) < len(bare[-1]):
        raise ValueError(
            f"einsum: a label may occur only once in the result. Received {equation!r}."
        )
    missing = set(bare[-1]) - set(letters)
    if missing:
        raise ValueError(
            f"einsum: each label of the result must occur in an input. Received {equation!r}, with "
            f"label {missing.pop()!r}, which no input has."
        )
    return labels, output


def count_ellipsis_axes(label: str, shape: tuple[int, ...], k: int, error: type[Exception]) -> int:
    """Count the axes that the ellipsis of input `k` covers, after a check of its rank."""
    named = len(label.replace("...", ""))
    rank = len(shape)
    if rank < named or (rank > named and "..." not in label):
        raise error(f"einsum: Expected input {k} to have rank {named} but got: {rank}.")
    return rank - named


def take_diagonals(tensor: Any, name: str) -> tuple[Any, str]:
    """Take the diagonal of the axes that share a label."""
    for label in dict.fromkeys(name):
        while name.count(label) > 1:
            first = name.index(label)
            second = name.index(label, first + 1)
            shape = tensor._array.shape
            if shape[first] != shape[second]:
                raise InvalidArgumentError(
                    f"einsum: axes with the same label must have one size. Received {shape} for "
                    f"{name!r}."
                )
            rest = [k for k in range(len(name)) if k not in (first, second)]
            tensor = diagonal_ops.diagonal(s.permute_axes(tensor, (*rest, first, second)))
            name = "".join(name[k] for k in rest) + label
    return tensor, name


def record_sizes(
    sizes: dict[str, int], name: str, shape: tuple[int, ...], dots: int, equation: str
) -> bool:
    """Record the size of each label; return whether no axis broadcasts."""
    plain = True
    for label, size in zip(name, shape, strict=True):
        known = sizes.setdefault(label, size)
        if known == size:
            continue
        if label not in ellipsis_labels(dots) or 1 not in (known, size):
            raise InvalidArgumentError(
                f"einsum: Expected dimension {known} for label {label!r} but got dimension "
                f"{size}, in {equation!r}."
            )
        sizes[label] = size if known == 1 else known
        plain = False
    return plain


def drop_broadcast_axes(tensor: Any, name: str, sizes: dict[str, int]) -> tuple[Any, str]:
    """Drop axes of length one that broadcast against longer ones."""
    shape = tensor._array.shape
    dropped = [k for k, label in enumerate(name) if shape[k] == 1 and sizes[label] != 1]
    if not dropped:
        return tensor, name
    kept = [k for k in range(len(name)) if k not in dropped]
    out = s.reshape(tensor, shape=tuple(shape[k] for k in kept), rank=len(shape))
    return out, "".join(name[k] for k in kept)


@public
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sum of products over axes of `a` paired with axes of `b`.

    Args:
        a: a tensor.
        b: another of the same dtype.
        axes: the number of last axes of `a` to pair with first axes of `b`, or two lists of axes.
        name: has no effect here.

    Returns:
        A tensor with the other axes of `a`, then those of `b`.

    Example:
        >>> tf.tensordot([1, 2], [3, 4], axes=1).numpy()
        np.int32(11)
    """
    x, y = convert_pair(a, b)
    check_same_dtype("MatMul", check_dtype("MatMul", x, MATMUL_DTYPES), y)
    p, q = x._array.shape, y._array.shape
    left, right = parse_tensordot_axes(axes, len(p), len(q))
    # As in TensorFlow, only the product of the summed sizes is compared, not each size.
    if prod(p[k] for k in left) != prod(q[k] for k in right):
        raise InvalidArgumentError(
            f"tensordot: Matrix size-incompatible: axes {left} of {list(p)} and {right} of "
            f"{list(q)} must have the same number of elements."
        )
    free, rest = (
        [k for k in range(len(have)) if k not in used] for have, used in ((p, left), (q, right))
    )
    inner = prod(p[k] for k in left)
    x = s.permute_axes(x, (*free, *left)) if len(p) > 1 else x
    y = s.permute_axes(y, (*right, *rest)) if len(q) > 1 else y
    x = s.reshape(x, shape=(prod(p[k] for k in free), inner), rank=len(p))
    y = s.reshape(y, shape=(inner, prod(q[k] for k in rest)), rank=len(q))
    shape = tuple(p[k] for k in free) + tuple(q[k] for k in rest)
    return s.reshape(matmul_ops.matmul(x, y), shape=shape, rank=2)


def parse_tensordot_axes(axes: Any, n: int, m: int) -> tuple[list[int], list[int]]:
    """Convert `axes` to two lists of axes to sum over."""
    if not isinstance(axes, (list, tuple)):
        given = np.asarray(convert(axes)._array)
        axes = int(given) if given.ndim == 0 else given.tolist()
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"tensordot: `axes` must be at least 0. Received {axes}.")
        if axes > min(n, m):
            raise ValueError(
                "tensordot: `axes` must not be larger than the number of dimensions. Received "
                f"{axes}, vs {n} and {m}."
            )
        return list(range(n - axes, n)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(f"tensordot: `axes` must be an integer or have length 2. Received {axes}.")
    left, right = ([k] if isinstance(k, int) else [int(i) for i in k] for k in axes)
    if len(left) != len(right):
        raise ValueError(
            f"tensordot: Different number of contraction axes `a` and `b`, {len(left)} != "
            f"{len(right)}."
        )
    return (
        [normalize_axis(k, n, "tensordot") + n for k in left],
        [normalize_axis(k, m, "tensordot") + m for k in right],
    )
