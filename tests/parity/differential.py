"""The same expression on TensorFlow and on gradtape: values, dtypes, shapes and error classes."""

import numpy as np


def outcome(expression, library, names):
    """What an expression gives: its leaves as arrays, or the class of its error."""
    try:
        value = eval(expression, {"tf": library, "np": np, **names})
        return [describe_leaf(leaf) for leaf in leaves_of(value, library)]
    except Exception as error:
        return type(error).__name__


def leaves_of(value, library):
    """The tensors of a result; named tuples, lists, sparse and ragged tensors are opened."""
    if isinstance(value, library.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, library.RaggedTensor):
        return [*leaves_of(value.values, library), value.row_splits]
    if isinstance(value, library.IndexedSlices):
        return [library.convert_to_tensor(value)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves_of(value[key], library)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves_of(part, library)]
    return [value]


def describe_leaf(leaf):
    """An array, or a Python value as it is."""
    if hasattr(leaf, "numpy") and hasattr(leaf, "dtype"):
        return (leaf.dtype.name, tuple(leaf.shape), np.asarray(leaf.numpy()))
    if isinstance(leaf, (np.ndarray, np.generic)):
        return (leaf.dtype.name, leaf.shape, np.asarray(leaf))
    return str(leaf) if leaf is not None else None


def explain_difference(ours, theirs, rtol=1e-5, atol=1e-6):
    """None if two outcomes agree, else a sentence."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return None if ours == theirs else f"ours {shorten(ours)}, TensorFlow's {shorten(theirs)}"
    if len(ours) != len(theirs):
        return f"{len(ours)} results, TensorFlow has {len(theirs)}"
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(a, tuple) or not isinstance(b, tuple):
            if a != b:
                return f"ours {shorten(a)}, TensorFlow's {shorten(b)}"
        elif a[:2] != b[:2]:
            return f"ours {a[:2]}, TensorFlow's {b[:2]}"
        elif not has_close_values(a[2], b[2], rtol, atol):
            return f"ours {shorten(a[2])}, TensorFlow's {shorten(b[2])}"
    return None


def has_close_values(a, b, rtol, atol):
    """Whether arrays are equal, floats up to rounding."""
    if a.dtype == object or a.dtype.kind in "biuSU":
        return bool(np.array_equal(a, b))
    if a.dtype.itemsize == 2:
        rtol, atol = 1e-2, 1e-2
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    return bool(np.allclose(a.astype(wide), b.astype(wide), rtol, atol, equal_nan=True))


def shorten(value):
    """The beginning of a value's text."""
    return " ".join(str(value).split())[:160]
