"""tf.io: parsing of serialized SequenceExamples."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.shapes import TensorShape
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host, describe_sparse
from gradtape.tf.io.parse_example import (
    FixedLenSequenceFeature,
    VarLenFeature,
    as_scalar_or_tensor,
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


def describe_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    *_: Any,
    **__: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Result rule of `parse_single_sequence_example`."""
    context = describe_features(check_features(context_features), ()) if context_features else {}
    steps = {}
    for key in sort_features(sequence_features or {}):
        feature = sequence_features[key]
        check_feature(key, feature, in_sequence=True)
        is_sparse = isinstance(feature, VarLenFeature)
        sparse = describe_sparse([None, None], feature.dtype)
        steps[key] = sparse if is_sparse else describe_feature(feature, ())
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
            FixedLenSequenceFeature or a VarLenFeature.
        example_name: has no effect here.
        name: has no effect here.

    Returns:
        Two dicts of tensors by name; those of the second have a leading axis of steps.

    Raises:
        InvalidArgumentError: if a feature is missing or does not match its description.
    """
    from gradtape.files.example import SequenceExample

    if not context_features and not sequence_features:
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    text = convert(serialized, dtypes.string)._array
    if text.ndim:
        raise ValueError(f"Input serialized must be a scalar. Received shape {text.shape}.")
    example = parse_message(SequenceExample, text[()])
    context = {}
    if context_features:
        context = make_feature_tensors(
            [example.context.feature], check_features(context_features), batched=False
        )
    lists = example.feature_lists.feature_list

    for key, feature in (sequence_features or {}).items():
        check_feature(key, feature, in_sequence=True)
    steps = {
        key: make_sequence_tensor(
            lists[key].feature if key in lists else None, key, sequence_features[key]
        )
        for key in sort_features(sequence_features or {})
    }
    return context, steps


def make_sequence_tensor(steps: Any, key: str, feature: Any) -> Tensor | SparseTensor:
    """Make the tensor of one feature over the steps."""
    arrays = [feature_values(step, key, feature.dtype) for step in steps or ()]
    if isinstance(feature, VarLenFeature):
        return make_sparse_tensor(arrays, feature.dtype, batched=True)
    if not isinstance(feature, FixedLenSequenceFeature):
        raise ValueError(f"Unsupported {type(feature).__name__} for sequence feature {key}.")
    if steps is None and not feature.allow_missing:
        raise InvalidArgumentError(
            f"parse_single_sequence_example: Feature list {key!r} is required but could not be "
            "found. Did you mean to include it in allow_missing?"
        )
    shape = tuple(TensorShape(feature.shape).as_list())
    out = np.empty((len(arrays), *shape), dtypes.as_dtype(feature.dtype).as_numpy_dtype)
    for i, values in enumerate(arrays):
        if values is None or values.size != out[i : i + 1].size:
            raise InvalidArgumentError(
                f"parse_single_sequence_example: Key: {key}, Index: {i}. Number of values != "
                f"expected. Values size: {0 if values is None else values.size} but output shape: "
                f"{list(shape)}."
            )
        out[i] = values.reshape(shape)
    return as_scalar_or_tensor(out) if len(arrays) else make_tensor(out)
