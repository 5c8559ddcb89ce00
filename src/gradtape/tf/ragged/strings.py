"""tf.strings functions for ragged tensors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gradtape.core.errors import public
from gradtape.core.primitive import Spec
from gradtape.core.ragged.conversion import ragged_from_nested_splits
from gradtape.core.shape_rule import FRESH, OBJECT
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.host_function import call_on_host
from gradtape.tf.ragged.broadcast import apply_elementwise
from gradtape.tf.ragged.conversion import total_rank_of
from gradtape.tf.ragged.shape import normalize_ragged_axis


@public
def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Elementwise concatenation of strings."""
    from gradtape.tf.strings.join import join as dense

    return apply_elementwise(lambda *parts: dense(list(parts), separator), *inputs)


@public
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """Strings joined along the innermost ragged axis; all strings if `axis` is None."""
    from gradtape.tf.strings.join import reduce_join as dense

    if axis is None:
        return dense(inputs.flat_values, None, keepdims, separator)
    at = normalize_ragged_axis(axis, total_rank_of(inputs), "reduce_join")
    if at != inputs.ragged_rank or inputs.flat_values.ndim > 1 or keepdims:
        raise NotImplementedError(
            "reduce_join: axis must be the innermost, ragged axis, and keepdims False, for a "
            f"ragged tensor. Received axis={axis}, keepdims={keepdims}, shape {inputs.shape}."
        )
    *outer, last = inputs._nested_row_partitions
    words = join_rows(inputs.flat_values, last._splits, separator)
    return ragged_from_nested_splits(words, [p._splits for p in outer], [p._uniform for p in outer])


@call_on_host(lambda flat, splits, *_, **__: Spec(((splits._array.shape[0] - 1,), OBJECT)))
def join_rows(flat: Any, splits: Any, separator: str) -> Tensor:
    """Join the strings of each row."""
    words, ends, joint = flat._array, splits._array.tolist(), separator.encode()
    out = np.empty(len(ends) - 1, object)
    out[:] = [joint.join(words[a:b]) for a, b in itertools.pairwise(ends)]
    return make_tensor(out)


@public
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """N-grams of the innermost rows."""
    *outer, last = data._nested_row_partitions
    how = (ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    words, splits = make_row_ngrams(data.flat_values, last._splits, how)
    return ragged_from_nested_splits(
        words, [*(p._splits for p in outer), splits], [p._uniform for p in outer] + [None]
    )


@call_on_host(
    lambda flat, splits, how: (
        Spec(((FRESH,), OBJECT)),
        Spec((splits._array.shape, splits._array.dtype)),
    )
)
def make_row_ngrams(flat: Any, splits: Any, how: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
    """The n-grams of each row, and their row splits."""
    from gradtape.tf.strings.join import make_ngram_function

    words, ends = flat._array.tolist(), splits._array.tolist()
    rows = list(map(make_ngram_function(*how), (words[a:b] for a, b in itertools.pairwise(ends))))
    out = np.empty(sum(map(len, rows)), object)
    out[:] = list(itertools.chain.from_iterable(rows))
    counts = np.cumsum([0, *map(len, rows)])
    return make_tensor(out), make_tensor(counts.astype(splits._array.dtype))


@public
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """One string for each innermost row of code points."""
    *outer, last = input._nested_row_partitions
    words = encode_rows(input.flat_values, last._splits, output_encoding, errors, replacement_char)
    return ragged_from_nested_splits(words, [p._splits for p in outer], [p._uniform for p in outer])


@call_on_host(lambda flat, splits, *_, **__: Spec(((splits._array.shape[0] - 1,), OBJECT)))
def encode_rows(flat: Any, splits: Any, encoding: str, errors: str, replacement: int) -> Tensor:
    """Encode each row of code points as a string."""
    from gradtape.tf.strings.unicode import encode_characters

    codes, ends = flat._array.tolist(), splits._array.tolist()
    out = np.empty(len(ends) - 1, object)
    out[:] = [
        encode_characters(codes[a:b], encoding, errors, replacement, "unicode_encode")
        for a, b in itertools.pairwise(ends)
    ]
    return make_tensor(out)
