"""tf.io: parsing of serialized SequenceExamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import hide_dims
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, INT64
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_sparse, shape_of_argument
from gradtape.tf.io.parse_example import (
    FixedLenSequenceFeature,
    VarLenFeature,
    check_feature,
    check_features,
    describe_feature,
    describe_features,
    feature_values,
    make_feature_tensors,
    make_sparse_tensor,
    parse_message,
    sort_features,
)
from gradtape.tf.io.ragged_feature import (
    RaggedFeature,
    describe_ragged_feature,
    make_ragged_tensor,
)

Described = dict[str, Any]


def describe_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    *_: Any,
    **__: Any,
) -> tuple[Described, Described]:
    """Result rule of `parse_single_sequence_example`."""
    return describe_sequences((), context_features, sequence_features)


def describe_sequence_examples(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    *_: Any,
    **__: Any,
) -> tuple[Described, Described, Described]:
    """Result rule of `parse_sequence_example`."""
    lead = shape_of_argument(serialized)
    found = describe_sequences(lead, context_features, sequence_features)
    dense = [k for k in found[1] if isinstance(sequence_features[k], FixedLenSequenceFeature)]
    return *found, {key: Spec((lead, INT64)) for key in dense}


def describe_sequences(
    lead: tuple[Any, ...], context_features: Any, sequence_features: Any
) -> tuple[Described, Described]:
    """The specs of context features and of features of steps, with `lead` axes in front."""
    context = describe_features(check_features(context_features), lead) if context_features else {}
    steps: Described = {}
    for key in sort_features(sequence_features or {}):
        feature = sequence_features[key]
        check_feature(key, feature, in_sequence=True)
        if isinstance(feature, VarLenFeature):
            steps[key] = describe_sparse([*hide_dims(lead), None, None], feature.dtype)
        elif isinstance(feature, RaggedFeature):
            steps[key] = describe_ragged_feature(feature, (*lead, FRESH))
        else:
            steps[key] = describe_feature(feature, lead)
    return context, steps


@public
@call_on_host(describe_sequence_example)
def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of one serialized SequenceExample.

    Args:
        serialized: a scalar string.
        context_features: descriptions of the context features by name, as in
            `parse_single_example`.
        sequence_features: descriptions of the features of each step by name: a
            FixedLenSequenceFeature, a VarLenFeature or a RaggedFeature.
        example_name: has no effect here.
        name: has no effect here.

    Returns:
        Two dicts of tensors by name; those of the second have a leading axis of steps.

    Raises:
        InvalidArgumentError: if a feature is missing or does not match its description.
    """
    check_sequence_features(context_features, sequence_features)
    text = convert(serialized, dtypes.string)._array
    if text.ndim:
        raise ValueError(f"Input serialized must be a scalar. Received shape {text.shape}.")
    context, steps, _ = make_sequence_tensors(
        [text[()]], context_features, sequence_features, batched=False
    )
    return context, steps


@public
@call_on_host(describe_sequence_examples)
def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The features of a batch of serialized SequenceExamples.

    Args:
        serialized: a vector of strings, or a scalar string.
        context_features: descriptions of the context features by name, as in `parse_example`.
        sequence_features: descriptions of the features of each step by name: a
            FixedLenSequenceFeature, a VarLenFeature or a RaggedFeature.
        example_names: has no effect here.
        name: has no effect here.

    Returns:
        A dict of context features, a dict of features of steps, and a dict with the number of steps
        of each dense feature. Dense features are padded with zeros to the longest sequence.

    Raises:
        InvalidArgumentError: if a feature is missing or does not match its description.
    """
    check_sequence_features(context_features, sequence_features)
    texts = convert(serialized, dtypes.string)._array
    if texts.ndim > 1:
        raise InvalidArgumentError(
            f"parse_sequence_example: serialized must be a vector. Received shape {texts.shape}."
        )
    return make_sequence_tensors(
        texts.ravel().tolist(), context_features, sequence_features, batched=texts.ndim == 1
    )


def check_sequence_features(context_features: Any, sequence_features: Any) -> None:
    """Raise if there are no descriptions, or some are not supported."""
    if not context_features and not sequence_features:
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    if context_features:
        check_features(context_features)
    for key, feature in (sequence_features or {}).items():
        check_feature(key, feature, in_sequence=True)


def make_sequence_tensors(
    texts: list[bytes], context_features: Any, sequence_features: Any, batched: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Make the tensors of SequenceExamples, and the numbers of steps of dense features."""
    from gradtape.files.example import SequenceExample

    examples = [parse_message(SequenceExample, text) for text in texts]
    contexts = [example.context.feature for example in examples]
    lists = [example.feature_lists.feature_list for example in examples]
    context = make_feature_tensors(contexts, context_features, batched) if context_features else {}
    steps: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    for key in sort_features(sequence_features or {}):
        feature = sequence_features[key]
        if isinstance(feature, RaggedFeature):
            steps[key] = make_ragged_steps(lists, key, feature, batched)
            continue
        found = [each[key].feature if key in each else None for each in lists]
        if isinstance(feature, VarLenFeature):
            steps[key] = make_sparse_steps(found, key, feature, batched)
            continue
        steps[key] = make_dense_steps(found, key, feature, batched)
        counts = np.array([len(each or ()) for each in found], np.int64)
        lengths[key] = make_tensor(counts if batched else counts[0])
    return context, steps, lengths


def make_ragged_steps(lists: list[Any], key: str, feature: RaggedFeature, batched: bool) -> Any:
    """Make the ragged tensor of one feature over the steps."""
    name = feature.value_key or key
    counts = [len(each[name].feature) if name in each else 0 for each in lists]
    places = [(each, step) for each, n in zip(lists, counts, strict=True) for step in range(n)]

    def read(place: Any, name: str, dtype: Any) -> Any:
        found, step = place
        return feature_values(found[name].feature[step], name, dtype) if name in found else None

    batch = (np.array(counts, np.int64),) if batched else ()
    return make_ragged_tensor(places, read, key, feature, batch)


def make_sparse_steps(
    found: list[Any], key: str, feature: VarLenFeature, batched: bool
) -> SparseTensor:
    """Make the sparse tensor of one feature over the steps."""
    rows = [[feature_values(step, key, feature.dtype) for step in each or ()] for each in found]
    every = [row for each in rows for row in each]
    flat = make_sparse_tensor(every, feature.dtype, batched=True)
    if not batched:
        return flat
    counts = np.array([len(each) for each in rows], np.int64)
    example = np.repeat(np.arange(len(rows)), counts)
    step = np.arange(len(every)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = flat.indices._array
    where = np.stack([example[places[:, 0]], step[places[:, 0]], places[:, 1]], axis=1)
    shape = np.array([len(rows), max(counts, default=0), flat.dense_shape._array[1]], np.int64)
    return SparseTensor(make_tensor(where.astype(np.int64)), flat.values, make_tensor(shape))


def make_dense_steps(
    found: list[Any], key: str, feature: FixedLenSequenceFeature, batched: bool
) -> Tensor:
    """Make the tensor of one feature over the steps, padded to the longest sequence."""
    if not isinstance(feature, FixedLenSequenceFeature):
        raise ValueError(f"Unsupported {type(feature).__name__} for sequence feature {key}.")
    shape = tuple(TensorShape(feature.shape).as_list())
    kind = dtypes.as_dtype(feature.dtype)
    longest = max((len(steps or ()) for steps in found), default=0)
    filler = b"" if kind is dtypes.string else 0
    out = np.full((len(found), longest, *shape), filler, kind.as_numpy_dtype)
    for row, steps in zip(out, found, strict=True):
        if steps is None and not feature.allow_missing:
            raise InvalidArgumentError(
                f"parse_sequence_example: Feature list {key!r} is required but could not be found. "
                "Did you mean to include it in allow_missing?"
            )
        for i, step in enumerate(steps or ()):
            values = feature_values(step, key, kind)
            if values is None or values.size != row[i : i + 1].size:
                raise InvalidArgumentError(
                    f"parse_sequence_example: Key: {key}, Index: {i}. Number of values != "
                    f"expected. Values size: {0 if values is None else values.size} but output "
                    f"shape: {list(shape)}."
                )
            row[i : i + 1] = values.reshape(1, *shape)
    return make_tensor(out if batched else out[0])
