"""Host ops of arrays: indices, slices, masks, sorting, and `tf.experimental.numpy`."""

from __future__ import annotations

import numpy as np

from gradtape.tf.saved_model.attribute_type import (
    ARRAY,
    AXIS,
    DTYPE,
    FLAG,
    INTEGER,
    NUMBER,
    OFFSET,
    RANK,
    SHAPE,
    SIZE,
    AnyOf,
    Choice,
    DictOf,
    Named,
    Optional,
    SequenceOf,
)
from gradtape.tf.saved_model.op_schema import (
    DynamicOp,
    DynamicTupleOp,
    IntegerOp,
    RawFunctionOp,
    Variadic,
)

# Sizes of a slice; -1 stands for the rest of the axis.
SLICE_SIZES = SequenceOf(OFFSET)
NUMPY_CREATORS = {
    "zeros": np.zeros,
    "ones": np.ones,
    "eye": np.eye,
    "identity": np.identity,
    "arange": np.arange,
    "geomspace": np.geomspace,
    "logspace": np.logspace,
    "tri": np.tri,
}
CREATOR_OPTIONS = DictOf(
    AnyOf(DTYPE, FLAG, INTEGER, NUMBER),
    ("N", "M", "k", "num", "endpoint", "base", "axis", "start", "stop", "step", "n", "dtype"),
)

ARRAY_OPS = (
    DynamicOp(
        "array.range",
        "tf.array.range:compute_range",
        start=ARRAY,
        limit=ARRAY,
        delta=ARRAY,
        kind=DTYPE,
    ),
    RawFunctionOp("array.pack_starts", "tf.array.dynamic_index:pack_starts", starts=Variadic()),
    RawFunctionOp(
        "array.check_begin",
        "tf.array.dynamic_index:check_begin",
        begin=ARRAY,
        sizes=SLICE_SIZES,
        shape=SHAPE,
    ),
    RawFunctionOp(
        "array.slice_start",
        "tf.array.dynamic_index:slice_start",
        start=Optional(ARRAY),
        stop=Optional(ARRAY),
        n=SIZE,
    ),
    IntegerOp(
        "array.slice_length",
        "tf.array.dynamic_index:slice_length",
        start=Optional(ARRAY),
        stop=Optional(ARRAY),
        n=SIZE,
    ),
    RawFunctionOp(
        "array.normalize_index",
        "tf.array.dynamic_index:normalize_raw_index",
        index=ARRAY,
        axis=AXIS,
        n=SIZE,
    ),
    RawFunctionOp(
        "array.normalize_index_in",
        "tf.array.dynamic_index:normalize_index_in",
        index=ARRAY,
        x=ARRAY,
        axis=AXIS,
    ),
    IntegerOp(
        "array.remaining_size",
        "tf.array.dynamic_index:remaining_size",
        begin=ARRAY,
        axis=AXIS,
        n=SIZE,
    ),
    RawFunctionOp(
        "array.flatten_partitions",
        "tf.array.dynamic_partition:flatten_partitions",
        numbers=ARRAY,
        num_partitions=SIZE,
    ),
    RawFunctionOp(
        "array.concat_indices", "tf.array.dynamic_partition:concat_indices", places=Variadic()
    ),
    IntegerOp(
        "array.count_stitched_rows", "tf.array.dynamic_partition:count_stitched_rows", every=ARRAY
    ),
    DynamicOp(
        "array.positions_of_number",
        "tf.array.dynamic_partition:positions_of_number",
        numbers=ARRAY,
        number=SIZE,
    ),
    RawFunctionOp(
        "array.mask_out_of_range",
        "tf.array.gather:mask_out_of_range",
        raw=ARRAY,
        shape=SHAPE,
    ),
    RawFunctionOp(
        "array.unravel_positions",
        "tf.array.gather:unravel_positions",
        raw=ARRAY,
        sizes=SHAPE,
    ),
    RawFunctionOp(
        "array.reverse_prefixes",
        "tf.array.gather:reverse_prefixes",
        lengths=ARRAY,
        batch=SIZE,
        size=SIZE,
    ),
    RawFunctionOp("array.invert_permutation", "tf.array.gather:invert_raw_permutation", raw=ARRAY),
    RawFunctionOp("array.zero_rows", "tf.array.gather:zero_rows", indices=ARRAY, outside=ARRAY),
    RawFunctionOp(
        "array.mask_valid_rows",
        "tf.array.gather:mask_valid_rows",
        outside=ARRAY,
        rank=RANK,
    ),
    RawFunctionOp(
        "array.mask_lengths", "tf.array.mask:mask_lengths", lengths=ARRAY, size=SIZE, dtype=DTYPE
    ),
    IntegerOp("array.max_length", "tf.array.mask:max_length_of", lengths=ARRAY),
    DynamicOp("array.find_valid_rows", "tf.array.scatter:find_valid_rows", outside=ARRAY),
    DynamicOp(
        "array.repeat_positions", "tf.array.repeat_roll:repeat_positions", counts=ARRAY, size=SIZE
    ),
    RawFunctionOp(
        "array.roll_positions", "tf.array.repeat_roll:roll_positions", shifts=ARRAY, k=SIZE, n=SIZE
    ),
    RawFunctionOp(
        "array.search_rows",
        "tf.array.sort_unique:search_rows",
        table=ARRAY,
        wanted=ARRAY,
        side=Choice("left", "right"),
        kind=DTYPE,
    ),
    DynamicTupleOp("array.find_unique", "tf.array.sort_unique:find_unique", raw=ARRAY, kind=DTYPE),
    DynamicOp(
        "numpy.create",
        "tf.numpy.array:call_numpy_creator",
        maker=Named(NUMPY_CREATORS),
        options=CREATOR_OPTIONS,
        args=Variadic(AnyOf(ARRAY, SHAPE)),
    ),
    RawFunctionOp(
        "numpy.wrap_or_clip_indices",
        "tf.numpy.index:wrap_or_clip_indices",
        indices=ARRAY,
        count=SIZE,
        mode=Choice("clip", "wrap"),
    ),
    RawFunctionOp(
        "numpy.to_nonnegative_indices",
        "tf.numpy.index:to_nonnegative_indices",
        indices=ARRAY,
        count=SIZE,
    ),
    RawFunctionOp("numpy.signbit", "numpy:signbit", x=ARRAY),
    RawFunctionOp("numpy.iscomplex", "numpy:iscomplex", x=ARRAY),
    RawFunctionOp("numpy.isreal", "numpy:isreal", x=ARRAY),
    RawFunctionOp("numpy.gcd", "numpy:gcd", x1=ARRAY, x2=ARRAY),
    RawFunctionOp("numpy.lcm", "numpy:lcm", x1=ARRAY, x2=ARRAY),
    DynamicOp("numpy.flatnonzero", "numpy:flatnonzero", a=ARRAY),
    IntegerOp("numpy.asarray", "numpy:asarray", a=ARRAY),
)
