"""Host ops of ragged and sparse tensors and of sets."""

from __future__ import annotations

from gradtape.tf.saved_model.attribute_type import (
    ARRAY,
    AXES,
    DTYPE,
    FLAG,
    INTEGER,
    LABEL,
    RANK,
    SHAPE,
    SIZE,
    TENSOR_LIKE,
    TEXT,
    AnyOf,
    Bytes,
    Choice,
    Integer,
    Optional,
    SequenceOf,
    TupleOf,
)
from gradtape.tf.saved_model.op_schema import (
    CallOp,
    CheckOp,
    DynamicOp,
    DynamicTupleOp,
    HostOp,
    IntegerOp,
    RawFunctionOp,
    TupleOp,
    Variadic,
)

ROWS = "core.ragged.row_splits"
WIDTHS = AnyOf(SIZE, SequenceOf(SIZE))
PADDING_WORDS = Optional(AnyOf(TEXT, Bytes(), SequenceOf(AnyOf(TEXT, Bytes()))))
NGRAM_OPTIONS = TupleOf(WIDTHS, TEXT, PADDING_WORDS, Optional(SIZE), FLAG)

RAGGED_OPS = (
    IntegerOp("ragged.element_at", f"{ROWS}:element_at", array=ARRAY, i=INTEGER),
    RawFunctionOp("ragged.check_splits", f"{ROWS}:check_splits", op=LABEL, splits=ARRAY),
    RawFunctionOp("ragged.check_lengths", f"{ROWS}:check_lengths", op=LABEL, lengths=ARRAY),
    RawFunctionOp("ragged.splits_from_lengths", f"{ROWS}:splits_from_lengths", lengths=ARRAY),
    RawFunctionOp("ragged.check_rowids", f"{ROWS}:check_rowids", op=LABEL, rowids=ARRAY),
    RawFunctionOp(
        "ragged.splits_from_rowids", f"{ROWS}:splits_from_rowids", rowids=ARRAY, nrows=SIZE
    ),
    DynamicOp("ragged.rowids", f"{ROWS}:rowids_of", splits=ARRAY),
    DynamicOp("ragged.offsets", f"{ROWS}:offsets_of", splits=ARRAY),
    DynamicTupleOp("ragged.take_rows", f"{ROWS}:take_rows", rows=ARRAY, nested=Variadic()),
    DynamicTupleOp(
        "ragged.slice_rows",
        f"{ROWS}:slice_rows",
        splits=ARRAY,
        start=Optional(INTEGER),
        stop=Optional(INTEGER),
        step=INTEGER,
    ),
    RawFunctionOp(
        "ragged.dense_positions", f"{ROWS}:dense_positions", sizes=SHAPE, nested=Variadic()
    ),
    DynamicOp("ragged.value_coordinates", f"{ROWS}:value_coordinates", nested=Variadic()),
    IntegerOp("ragged.longest_row_length", f"{ROWS}:longest_row_length", splits=ARRAY),
    DynamicTupleOp(
        "ragged.reduction_segments", f"{ROWS}:reduction_segments", axis=RANK, nested=Variadic()
    ),
    RawFunctionOp("ragged.concat_splits", f"{ROWS}:concat_splits", nested=Variadic()),
    RawFunctionOp(
        "ragged.interleave_rows", "tf.ragged.shape:interleave_rows", count=SIZE, many=SIZE
    ),
    DynamicTupleOp(
        "ragged.broadcast_rows",
        "tf.ragged.broadcast:compute_broadcast_rows",
        layout=SequenceOf(SequenceOf(Optional(SIZE))),
        held=SequenceOf(SequenceOf(FLAG)),
        owners=SequenceOf(SIZE),
        given=Variadic(),
    ),
    IntegerOp("ragged.count_rows_of_ids", "tf.ragged.conversion:count_rows_of_ids", ids=ARRAY),
    DynamicTupleOp(
        "ragged.take_row_prefixes",
        "tf.ragged.conversion:take_row_prefixes",
        counts=ARRAY,
        size=SIZE,
    ),
    RawFunctionOp(
        "ragged.splits_from_sparse",
        "tf.ragged.conversion:sparse_indices_to_splits",
        indices=ARRAY,
        count=SIZE,
    ),
    RawFunctionOp(
        "ragged.lengths_without_padding",
        "tf.ragged.conversion:lengths_without_padding",
        blank=ARRAY,
        dtype=DTYPE,
    ),
    RawFunctionOp(
        "ragged.clip_lengths", "tf.ragged.conversion:clip_lengths", lengths=ARRAY, size=SIZE
    ),
    CheckOp(
        "ragged.check_value_count",
        "tf.ragged.conversion:check_value_count",
        splits=TENSOR_LIKE,
        count=SIZE,
        factory=LABEL,
    ),
    DynamicTupleOp(
        "ragged.ranges",
        "tf.ragged.creation:compute_ranges",
        starts=ARRAY,
        limits=ARRAY,
        deltas=ARRAY,
        dtype=DTYPE,
    ),
    RawFunctionOp(
        "ragged.mask_splits", "tf.ragged.creation:mask_row_splits", splits=ARRAY, mask=ARRAY
    ),
    DynamicTupleOp(
        "ragged.cross_splits", "tf.ragged.cross:cross_row_splits", input_splits=Variadic()
    ),
    TupleOp(
        "ragged.group_by_partition",
        "tf.ragged.partition:group_by_partition",
        ids=ARRAY,
        count=SIZE,
    ),
    RawFunctionOp(
        "ragged.check_in_row", "tf.ragged.gather_slice:check_in_row", index=ARRAY, lengths=ARRAY
    ),
    RawFunctionOp("ragged.longest_row", "tf.ragged.method:longest_row_scalar", splits=ARRAY),
    IntegerOp(
        "ragged.count_reduced_values",
        "tf.ragged.reduce:count_reduced_values",
        nested_splits=Variadic(),
    ),
    IntegerOp("ragged.last_split", "tf.ragged.reduce:last_split", splits=ARRAY),
    RawFunctionOp(
        "ragged.tile_splits", "tf.ragged.shape:tile_row_splits", splits=ARRAY, times=SIZE
    ),
    CheckOp(
        "ragged.check_single_element_rows",
        "tf.ragged.shape:check_single_element_rows",
        splits=TENSOR_LIKE,
    ),
    CheckOp(
        "ragged.check_same_splits",
        "tf.ragged.shape:check_same_splits",
        op=LABEL,
        x=TENSOR_LIKE,
        y=TENSOR_LIKE,
    ),
    CallOp(
        "ragged.join_rows",
        "tf.ragged.strings:join_rows",
        flat=TENSOR_LIKE,
        splits=TENSOR_LIKE,
        separator=TEXT,
    ),
    CallOp(
        "ragged.make_ngrams",
        "tf.ragged.strings:make_row_ngrams",
        flat=TENSOR_LIKE,
        splits=TENSOR_LIKE,
        how=NGRAM_OPTIONS,
    ),
    CallOp(
        "ragged.encode_rows",
        "tf.ragged.strings:encode_rows",
        flat=TENSOR_LIKE,
        splits=TENSOR_LIKE,
        encoding=LABEL,
        errors=Choice("strict", "replace", "ignore"),
        replacement=Integer(0, 0x10FFFF),
    ),
)

SPARSE_OPS = (
    DynamicOp("sparse.nonzero_indices", "tf.sparse.conversion:nonzero_indices_of", array=ARRAY),
    RawFunctionOp(
        "sparse.scatter_strings",
        "tf.sparse.conversion:scatter_strings",
        filler=ARRAY,
        places=ARRAY,
        values=ARRAY,
        shape=SHAPE,
    ),
    CheckOp(
        "sparse.check_indices",
        "tf.sparse.conversion:check_sparse_indices",
        indices=TENSOR_LIKE,
        dense_shape=TENSOR_LIKE,
    ),
    CallOp(
        "sparse.count_integers",
        "tf.sparse.bincount:count_integers",
        values=ARRAY,
        rows=ARRAY,
        weights=Optional(ARRAY),
        shape=SHAPE,
        most=Optional(INTEGER),
        binary=FLAG,
    ),
    CallOp(
        "sparse.cross",
        "tf.sparse.cross:cross_columns",
        columns=SequenceOf(ARRAY),
        separator=Optional(Bytes()),
        buckets=SIZE,
        key=INTEGER,
    ),
    CallOp(
        "sparse.hash_values",
        "tf.ragged.cross:hash_values",
        chosen=SequenceOf(ARRAY),
        buckets=SIZE,
        key=INTEGER,
    ),
    DynamicTupleOp("ragged.fill_rows", "tf.ragged.empty_rows:fill_rows", rows=ARRAY, count=ARRAY),
    DynamicOp(
        "sparse.find_unmasked",
        "tf.sparse.sampled_product:find_unmasked",
        indices=ARRAY,
        masked=ARRAY,
    ),
    RawFunctionOp(
        "sparse.find_new_positions",
        "tf.raw_ops.sparse_part:find_new_positions",
        before=ARRAY,
        after=ARRAY,
    ),
    CallOp(
        "strings.edit_distance",
        "tf.strings.edit_distance:measure_sequences",
        hypothesis=ARRAY,
        truth=ARRAY,
        normalize=FLAG,
    ),
    CallOp("strings.hash_rows", "tf.strings.fingerprint:hash_rows", data=ARRAY, method=ARRAY),
    CallOp(
        "image.compress_image",
        "tf.image.jpeg_quality:compress_image",
        image=ARRAY,
        quality=ARRAY,
    ),
    RawFunctionOp("raw.count_bits", "tf.raw_ops.array_part:count_raw_bits", x=ARRAY),
    DynamicOp("raw.find_absent", "tf.raw_ops.array_part:find_absent", x=ARRAY, y=ARRAY),
    RawFunctionOp(
        "raw.shuffle_indices",
        "tf.raw_ops.sampling_part:shuffle_raw",
        index=ARRAY,
        seed=ARRAY,
        top=ARRAY,
        rounds=INTEGER,
    ),
    CallOp("sparse.argsort_indices", "tf.sparse.index:argsort_indices", indices=ARRAY),
    CallOp("sparse.merge_indices", "tf.sparse.index:merge_indices", a=ARRAY, b=ARRAY, shape=ARRAY),
    CallOp(
        "sparse.reshape_indices",
        "tf.sparse.index:reshape_indices",
        indices=ARRAY,
        shape=ARRAY,
        wanted=ARRAY,
    ),
    CallOp(
        "sparse.group_indices",
        "tf.sparse.index:group_indices",
        indices=ARRAY,
        shape=ARRAY,
        axes=AXES,
        keepdims=FLAG,
    ),
    CallOp(
        "sparse.select_block",
        "tf.sparse.index:select_block",
        indices=ARRAY,
        shape=ARRAY,
        start=ARRAY,
        size=ARRAY,
    ),
    CallOp(
        "sparse.add_empty_row_indices",
        "tf.sparse.index:add_empty_row_indices",
        indices=ARRAY,
        shape=ARRAY,
    ),
    CallOp("sparse.smallest_shape", "tf.sparse.index:smallest_shape", indices=ARRAY),
    CallOp(
        "sets.combine",
        "tf.sets:combine_sets",
        a=TENSOR_LIKE,
        b=TENSOR_LIKE,
        operation=Choice("intersection", "union", "difference"),
    ),
    CallOp("sets.count_elements", "tf.sets:count_set_elements", a=TENSOR_LIKE),
)

RAGGED_SPARSE_OPS: tuple[HostOp, ...] = RAGGED_OPS + SPARSE_OPS
