"""tf.io: descriptions of features, and parsing of serialized Examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import hide_dims
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, numpy_dtype_of
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import (
    call_on_host,
    describe_sparse,
    shape_of_argument,
)
from gradtape.tf.io.ragged_feature import (
    RaggedFeature,
    describe_ragged_feature,
    make_ragged_tensor,
)

FEATURE_KINDS = {
    "int64_list": dtypes.int64,
    "float_list": dtypes.float32,
    "bytes_list": dtypes.string,
}


class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in every example.

    Attributes:
        shape: the shape of the values.
        dtype: int64, float32 or string.
        default_value: the value of a missing feature; if None, a missing feature is an error.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values, parsed into a SparseTensor."""

    dtype: Any


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of entries of one shape, padded to the longest in a batch."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """Features that together form a SparseTensor: indices and values."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


FEATURE_CLASSES = (
    *(FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, SparseFeature, RaggedFeature),
)


def describe_example(serialized: Any, features: Any, *_: Any, **__: Any) -> dict[str, Any]:
    """Result rule of `parse_example`."""
    lead = shape_of_argument(serialized)
    return describe_features(check_features(features), lead)


def describe_features(features: Mapping[str, Any], lead: tuple[Any, ...]) -> dict[str, Any]:
    """The specs of features, with `lead` axes in front."""
    return {key: describe_feature(features[key], lead) for key in sort_features(features)}


def describe_feature(feature: Any, lead: tuple[Any, ...]) -> Any:
    """The spec of one feature, with `lead` axes in front."""
    if isinstance(feature, VarLenFeature):
        return describe_sparse([*hide_dims(lead), None], feature.dtype)
    if isinstance(feature, SparseFeature):
        sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
        return describe_sparse([*hide_dims(lead), *sizes], feature.dtype)
    if isinstance(feature, RaggedFeature):
        return describe_ragged_feature(feature, lead)
    steps = () if isinstance(feature, FixedLenFeature) else (FRESH,)
    shape = (*lead, *steps, *TensorShape(feature.shape).as_list())
    return Spec((shape, numpy_dtype_of(feature.dtype)))


@public
@call_on_host(describe_example)
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized Example.

    Args:
        serialized: a scalar string.
        features: descriptions by name: a FixedLenFeature, VarLenFeature, FixedLenSequenceFeature,
            SparseFeature or RaggedFeature.
        example_names: has no effect here.
        name: has no effect here.

    Returns:
        A dict of tensors by name; a VarLenFeature or SparseFeature gives a SparseTensor, a
        RaggedFeature with partitions a RaggedTensor.

    Raises:
        InvalidArgumentError: if a feature is missing or does not match its description.

    Example:
        >>> values = tf.train.Int64List(value=[1, 2])
        >>> feature = {"a": tf.train.Feature(int64_list=values)}
        >>> example = tf.train.Example(features=tf.train.Features(feature=feature))
        >>> tf.io.parse_single_example(
        ...     example.SerializeToString(), {"a": tf.io.FixedLenFeature([2], tf.int64)})
        {'a': <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>}
    """
    text = convert(serialized, dtypes.string)._array
    if text.ndim:
        raise ValueError(f"Input serialized must be a scalar. Received shape {text.shape}.")
    return make_feature_tensors(parse_scalar_example(text), check_features(features), batched=False)


@public
@call_on_host(describe_example)
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a batch of serialized Examples; otherwise as `parse_single_example`.

    Args:
        serialized: a vector of strings, or a scalar string.
        features: descriptions by name.
        example_names: has no effect here.
        name: has no effect here.

    Returns:
        A dict from names to dense, sparse or ragged tensors.
    """
    texts = convert(serialized, dtypes.string)._array
    if texts.ndim > 1:
        raise InvalidArgumentError(
            f"parse_example: serialized must be a vector. Received shape {texts.shape}."
        )
    if not texts.ndim:
        return make_feature_tensors(
            parse_scalar_example(texts), check_features(features), batched=False
        )
    return make_feature_tensors(
        [parse_features(text) for text in texts], check_features(features), batched=True
    )


def parse_scalar_example(text: Any) -> list[Any]:
    """A list with the feature map of a scalar string."""
    return [parse_features(text[()])]


def parse_features(text: bytes) -> Any:
    """Parse a serialized Example into its map of features."""
    from gradtape.files.example import Example

    return parse_message(Example, text).features.feature


def parse_message(kind: Any, text: bytes) -> Any:
    """Parse a protobuf message from bytes."""
    from gradtape.files.protobuf import import_protobuf

    try:
        return kind.FromString(text)
    except import_protobuf().message.DecodeError:
        raise InvalidArgumentError(
            f"parse_example: Could not parse example input, value: {text!r:.100}"
        ) from None


def check_features(features: Any) -> Mapping[str, Any]:
    """Check all descriptions of features, and return them."""
    if features is None or not len(features):
        raise ValueError(
            f"Invalid argument: features cannot be {'None' if features is None else 'empty'}."
        )
    for key, feature in features.items():
        check_feature(key, feature)
    return features


def check_feature(key: str, feature: Any, in_sequence: bool = False) -> None:
    """Raise if the description of a feature is not supported."""
    if not isinstance(feature, FEATURE_CLASSES):
        raise ValueError(f"Unsupported {type(feature).__name__} {feature} for feature {key}.")
    if dtypes.as_dtype(feature.dtype) not in FEATURE_KINDS.values():
        raise InvalidArgumentError(
            f"parse_example: dtype must be int64, float32 or string. Received "
            f"{dtypes.as_dtype(feature.dtype).name} for feature {key}. Cast afterwards."
        )
    if isinstance(feature, FixedLenSequenceFeature) and not (in_sequence or feature.allow_missing):
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    shape = getattr(feature, "shape", ())
    if not TensorShape(shape).is_fully_defined():
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using "
            f"FixedLenSequenceFeature. Received feature={feature}."
        )


def make_feature_tensors(
    examples: Sequence[Any], features: Mapping[str, Any], batched: bool
) -> dict[str, Any]:
    """Make the tensors of a batch by name."""
    return {
        key: make_feature_tensor(examples, key, features[key], batched)
        for key in sort_features(features)
    }


def sort_features(features: Mapping[str, Any]) -> list[str]:
    """The names of features in TensorFlow's order: sparse ones, dense ones, ragged ones."""
    order = {
        k: 0 if isinstance(f, (VarLenFeature, SparseFeature)) else 1 + isinstance(f, RaggedFeature)
        for k, f in features.items()
    }
    return sorted(features, key=lambda key: (order[key], key))


def make_feature_tensor(examples: Sequence[Any], key: str, feature: Any, batched: bool) -> Any:
    """Make the tensor of one feature."""
    if isinstance(feature, SparseFeature):
        return make_sparse_feature_tensor(examples, feature, batched)
    if isinstance(feature, RaggedFeature):
        batch = () if batched else None
        return make_ragged_tensor(examples, example_values, key, feature, batch)
    lists = [example_values(example, key, feature.dtype) for example in examples]
    if isinstance(feature, VarLenFeature):
        return make_sparse_tensor(lists, feature.dtype, batched)
    if isinstance(feature, FixedLenFeature):
        return make_fixed_tensor(lists, key, feature, batched)
    return make_padded_tensor(lists, key, feature, batched)


def example_values(example: Any, key: str, dtype: Any) -> Any:
    """The values of a feature of an example as an array; None if it is missing."""
    if key not in example:
        return None
    return feature_values(example[key], key, dtype)


def feature_values(feature: Any, key: str, dtype: Any) -> Any:
    """The values of a Feature message as an array; None if the message is empty."""
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    wanted = dtypes.as_dtype(dtype)
    if FEATURE_KINDS[kind] is not wanted:
        raise InvalidArgumentError(
            f"parse_example: Key: {key}. Data types don't match. Data type: "
            f"{FEATURE_KINDS[kind].name} but "
            f"expected type: {wanted.name}."
        )
    values = getattr(feature, kind).value
    array = np.empty(len(values), wanted.as_numpy_dtype)
    array[:] = values
    return array


def make_fixed_tensor(
    lists: list[Any], key: str, feature: FixedLenFeature, batched: bool
) -> Tensor:
    """Make the tensor of a FixedLenFeature."""
    shape = tuple(TensorShape(feature.shape).as_list())
    size = int(np.prod(shape, dtype=np.int64))
    dtype = dtypes.as_dtype(feature.dtype)
    out = np.empty((len(lists), *shape), dtype.as_numpy_dtype)
    default = None
    if feature.default_value is not None:
        default = np.asarray(convert(feature.default_value, dtype)._array)
        if default.size != size:
            raise InvalidArgumentError(
                f"parse_example: the default value of feature {key} has {default.size} values, but "
                f"the requested shape {list(shape)} has {size}."
            )
    for i, values in enumerate(lists):
        if values is None and default is None:
            raise InvalidArgumentError(
                f"parse_example: Feature: {key} (data type: {dtype.name}) is required but could "
                f"not be found in example {i}. Give it a default_value if it may be missing."
            )
        row = default if values is None else values
        if row.size != size:  # type: ignore[union-attr]
            raise InvalidArgumentError(
                f"parse_example: Key: {key}, Index: {i}. Number of {dtype.name} values != "
                f"expected. Values size: {row.size} but output shape: {list(shape)}."  # type: ignore[union-attr]
            )
        out[i : i + 1] = row.reshape(1, *shape)  # type: ignore[union-attr]
    return as_scalar_or_tensor(out if batched else out[0])


def as_scalar_or_tensor(array: Any) -> Tensor:
    """Make a tensor that takes over an array; a 0-d array becomes a NumPy scalar."""
    array = np.asarray(array, object) if isinstance(array, bytes) else np.asarray(array)
    return make_tensor(array if array.ndim or array.dtype == object else array[()])


def make_padded_tensor(lists: list[Any], key: str, feature: Any, batched: bool) -> Tensor:
    """Make the tensor of a FixedLenSequenceFeature, padded to the longest row."""
    shape = tuple(TensorShape(feature.shape).as_list())
    size = int(np.prod(shape, dtype=np.int64))
    dtype = dtypes.as_dtype(feature.dtype)
    empty = np.empty(0, dtype.as_numpy_dtype)
    rows = [empty if values is None else values for values in lists]
    for i, values in enumerate(rows):
        if size == 0 or len(values) % size:
            raise InvalidArgumentError(
                f"parse_example: Key: {key}, Index: {i}. Number of {dtype.name} values is not a "
                f"multiple of stride length. Saw {len(values)} values but output shape is "
                f"{list(shape)}."
            )
    longest = max((len(values) // size for values in rows), default=0)
    filler = b"" if dtype is dtypes.string else 0
    if feature.default_value is not None:
        filler = convert(feature.default_value, dtype)._array[()]
    out = np.full((len(rows), longest, *shape), filler, dtype.as_numpy_dtype)
    for i, values in enumerate(rows):
        out[i, : len(values) // size] = values.reshape(-1, *shape)
    return as_scalar_or_tensor(out if batched else out[0])


def make_sparse_tensor(lists: list[Any], dtype: Any, batched: bool) -> SparseTensor:
    """Make the SparseTensor of a VarLenFeature."""
    numpy_dtype = dtypes.as_dtype(dtype).as_numpy_dtype
    lengths = [0 if values is None else len(values) for values in lists]
    rows = np.repeat(np.arange(len(lists), dtype=np.int64), lengths)
    columns = [np.arange(length, dtype=np.int64) for length in lengths]
    places = np.stack([rows, np.concatenate([np.empty(0, np.int64), *columns])], axis=1)
    values = [np.empty(0, numpy_dtype), *(v for v in lists if v is not None)]
    shape = np.array([len(lists), max(lengths, default=0)], np.int64)
    start = 0 if batched else 1
    return SparseTensor(
        make_tensor(places[:, start:]),
        make_tensor(np.concatenate(values)),
        make_tensor(shape[start:]),
    )


def make_sparse_feature_tensor(
    examples: Sequence[Any], feature: SparseFeature, batched: bool
) -> SparseTensor:
    """Make the SparseTensor of a SparseFeature from its index and value features."""
    keys = (
        feature.index_key if isinstance(feature.index_key, (list, tuple)) else [feature.index_key]
    )
    sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
    places, values = [], []
    for i, example in enumerate(examples):
        found = example_values(example, feature.value_key, feature.dtype)
        axes = [example_values(example, key, dtypes.int64) for key in keys]
        if found is None or any(axis is None or len(axis) != len(found) for axis in axes):
            if found is None and all(axis is None for axis in axes):
                continue
            raise InvalidArgumentError(
                f"parse_example: {feature.value_key} and {keys} differ in length in example {i}."
            )
        rows = np.stack([np.full(len(found), i), *axes], axis=1)
        order = np.arange(len(found)) if feature.already_sorted else np.lexsort(rows.T[::-1])
        places.append(rows[order])
        values.append(found[order])
    numpy_dtype = dtypes.as_dtype(feature.dtype).as_numpy_dtype
    start = 0 if batched else 1
    all_places = np.concatenate([np.empty((0, 1 + len(keys)), np.int64), *places])
    shape = np.array([len(examples), *sizes], np.int64)
    return SparseTensor(
        make_tensor(all_places[:, start:]),
        make_tensor(np.concatenate([np.empty(0, numpy_dtype), *values])),
        make_tensor(shape[start:]),
    )
