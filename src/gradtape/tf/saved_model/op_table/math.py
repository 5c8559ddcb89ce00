"""Host ops of mathematics: bins, segments, linear algebra, neural networks, random numbers."""

from __future__ import annotations

from gradtape.tf.saved_model.attribute_type import (
    ARRAY,
    DTYPE,
    FLAG,
    INTEGER,
    LABEL,
    NUMBER,
    RANK,
    SHAPE,
    SIZE,
    TENSOR_LIKE,
    Choice,
    Integer,
    Optional,
    SequenceOf,
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

OPTIONAL_SIZE = Optional(INTEGER)
SEED = Optional(INTEGER)

GRADIENT_OPS = (
    DynamicTupleOp(
        "raw.find_broadcast_axes",
        "tf.raw_ops.gradient:find_broadcast_axes",
        s0=ARRAY,
        s1=ARRAY,
    ),
    RawFunctionOp(
        "raw.compute_igamma_slope", "tf.raw_ops.gradient:compute_igamma_slope", a=ARRAY, x=ARRAY
    ),
    RawFunctionOp(
        "raw.compute_sample_slope",
        "tf.raw_ops.gradient:compute_sample_slope",
        alpha=ARRAY,
        sample=ARRAY,
    ),
)

BIN_OPS = (
    RawFunctionOp(
        "math.assign_bins", "tf.math.bincount:assign_bins", numbers=ARRAY, lines=SIZE, size=SIZE
    ),
    RawFunctionOp(
        "math.assign_bins_by_row",
        "tf.math.bincount:assign_bins_by_row",
        numbers=ARRAY,
        rows=ARRAY,
        size=SIZE,
    ),
    RawFunctionOp(
        "math.flatten_pairs", "tf.math.bincount:flatten_pairs", rows=ARRAY, columns=ARRAY, size=SIZE
    ),
    RawFunctionOp(
        "math.assign_equal_bins",
        "tf.math.bincount:assign_equal_bins",
        values=ARRAY,
        limits=ARRAY,
        count=SIZE,
        kind=DTYPE,
    ),
    RawFunctionOp(
        "math.count_in_bins", "tf.math.bincount:count_in_bins", bins=ARRAY, count=SIZE, dtype=DTYPE
    ),
    IntegerOp(
        "math.count_bins",
        "tf.math.bincount:count_bins",
        numbers=ARRAY,
        least=INTEGER,
        most=OPTIONAL_SIZE,
    ),
    RawFunctionOp(
        "math.count_ids",
        "tf.math.bincount:count_ids",
        ids=ARRAY,
        shape=SHAPE,
        binary=FLAG,
        dtype=DTYPE,
    ),
    IntegerOp("math.count_classes", "tf.math.bincount:count_classes", numbers=Variadic()),
    CallOp(
        "math.find_buckets",
        "tf.raw_ops.unique_bucketize:find_buckets",
        x=ARRAY,
        boundaries=SequenceOf(NUMBER),
    ),
    CallOp(
        "math.find_unique_slices",
        "tf.raw_ops.unique_bucketize:find_unique_slices",
        x=ARRAY,
        axes=ARRAY,
        kind=LABEL,
    ),
)

SEGMENT_OPS = (
    RawFunctionOp(
        "segment.check_sorted_ids",
        "tf.math.segment:check_sorted_ids",
        ids=ARRAY,
        label=LABEL,
        limit=Optional(SIZE),
    ),
    RawFunctionOp(
        "segment.divisors",
        "tf.math.segment:segment_divisors",
        ids=ARRAY,
        size=SIZE,
        rank=RANK,
        power=Integer(1, 2),
        dtype=DTYPE,
    ),
    IntegerOp("segment.count_sorted", "tf.math.segment:count_sorted_segments", ids=ARRAY),
    RawFunctionOp(
        "segment.replace_negative_ids",
        "tf.math.segment:replace_negative_ids",
        ids=ARRAY,
        label=LABEL,
        size=SIZE,
    ),
    RawFunctionOp(
        "segment.divide_toward_zero",
        "tf.math.segment:divide_toward_zero",
        total=ARRAY,
        count=ARRAY,
    ),
    RawFunctionOp(
        "segment.check_row_range",
        "tf.math.segment:check_row_range",
        label=LABEL,
        rows=ARRAY,
        size=SIZE,
    ),
    RawFunctionOp(
        "segment.mask_nonempty",
        "tf.math.segment:mask_nonempty_segments",
        ids=ARRAY,
        size=SIZE,
        rank=RANK,
    ),
)

LINALG_OPS = (
    DynamicOp(
        "linalg.positions_between",
        "tf.linalg.band_matrix:positions_between",
        values=ARRAY,
        low=ARRAY,
        high=ARRAY,
    ),
    RawFunctionOp(
        "linalg.has_nonzero_pivots", "tf.linalg.band_matrix:has_nonzero_pivots", bands=ARRAY
    ),
    CheckOp(
        "linalg.check_nonzero_diagonal",
        "tf.linalg.band_matrix:check_nonzero_diagonal",
        bands=TENSOR_LIKE,
        main=SIZE,
    ),
    IntegerOp(
        "linalg.is_above_tolerance",
        "tf.linalg.conjugate_gradient:is_above_tolerance",
        square=ARRAY,
        other=ARRAY,
        tol=NUMBER,
    ),
    RawFunctionOp(
        "linalg.count_rank", "tf.linalg.matrix_function:count_rank", x=ARRAY, tol=Optional(ARRAY)
    ),
    RawFunctionOp(
        "linalg.broadcast_row_order",
        "tf.linalg.linear_operator.permutation:broadcast_row_order",
        perm=ARRAY,
        shape=SHAPE,
        inverse=FLAG,
    ),
    RawFunctionOp(
        "linalg.permutation_sign",
        "tf.linalg.linear_operator.permutation:permutation_sign",
        perm=ARRAY,
        dtype=DTYPE,
    ),
    CheckOp(
        "linalg.check_permutation",
        "tf.linalg.linear_operator.permutation:check_permutation",
        perm=TENSOR_LIKE,
    ),
    RawFunctionOp(
        "linalg.mask_significant", "tf.linalg.solve:mask_significant", values=ARRAY, rcond=ARRAY
    ),
    RawFunctionOp(
        "linalg.repeat_for_columns",
        "tf.linalg.solve:repeat_for_columns",
        order=ARRAY,
        shape=SHAPE,
    ),
    RawFunctionOp("linalg.invert_permutations", "tf.linalg.solve:invert_permutations", perm=ARRAY),
    RawFunctionOp(
        "linalg.make_ridge", "tf.linalg.solve:make_ridge", weight=ARRAY, size=SIZE, dtype=DTYPE
    ),
)

NN_OPS = (
    RawFunctionOp(
        "nn.find_largest_position",
        "tf.nn.argmax_pool:find_largest_position",
        x=ARRAY,
        covered=ARRAY,
    ),
    RawFunctionOp(
        "nn.positions_in_image",
        "tf.nn.argmax_pool:positions_in_image",
        places=ARRAY,
        size=SIZE,
        dtype=DTYPE,
    ),
    TupleOp(
        "nn.encode_ctc_paths",
        "tf.nn.ctc_loss:encode_paths",
        labels=ARRAY,
        lengths=ARRAY,
        frames=ARRAY,
        blank=INTEGER,
        sizes=SHAPE,
    ),
    DynamicTupleOp(
        "nn.merge_repeated_labels",
        "tf.nn.ctc_loss:merge_repeated_labels",
        rows=ARRAY,
        lengths=ARRAY,
    ),
    TupleOp("nn.find_distinct_in_rows", "tf.nn.ctc_loss:find_distinct_in_rows", rows=ARRAY),
    CallOp(
        "nn.find_best_path",
        "tf.nn.ctc_decoder:find_best_path",
        scores=ARRAY,
        lengths=ARRAY,
        merge=FLAG,
        blank=INTEGER,
    ),
    CallOp(
        "nn.find_best_beams",
        "tf.nn.ctc_decoder:find_best_beams",
        scores=ARRAY,
        lengths=ARRAY,
        width=SIZE,
        paths=SIZE,
    ),
    RawFunctionOp("nn.argmax_last_axis", "tf.nn.dilation:argmax_last_axis", every=ARRAY),
    RawFunctionOp("nn.take_first_column", "tf.nn.embedding_sparse:take_first_column", places=ARRAY),
    DynamicTupleOp(
        "nn.clean_sparse_ids",
        "tf.nn.embedding_sparse:clean_sparse_ids",
        places=ARRAY,
        ids=ARRAY,
        weights=Optional(ARRAY),
        lead=SHAPE,
        positive=FLAG,
        default_id=Optional(INTEGER),
    ),
    IntegerOp("nn.count_rows", "tf.nn.embedding_sparse:count_rows", rows=ARRAY),
    RawFunctionOp(
        "nn.mask_window_elements",
        "tf.nn.fractional_pool:mask_window_elements",
        rows=ARRAY,
        columns=ARRAY,
    ),
    RawFunctionOp(
        "nn.count_valid_elements",
        "tf.nn.fractional_pool:count_valid_elements",
        counts=ARRAY,
        dtype=DTYPE,
    ),
    CallOp(
        "nn.draw_pool_windows",
        "tf.nn.fractional_pool:draw_windows",
        x=ARRAY,
        op=Choice("FractionalAvgPool", "FractionalMaxPool"),
        ratio=SequenceOf(NUMBER),
        pseudo_random=FLAG,
        overlapping=FLAG,
        seed=SEED,
    ),
    TupleOp(
        "nn.pool_isotonic_rows",
        "tf.nn.isotonic_regression:pool_rows",
        rows=ARRAY,
        decreasing=FLAG,
    ),
)

NO_FILE = Choice("")
NO_FILE.text = "empty, because a saved model reads no files"
CANDIDATES = {
    "true_classes": TENSOR_LIKE,
    "num_true": SIZE,
    "num_sampled": SIZE,
    "unique": FLAG,
}

RANDOM_OPS = (
    RawFunctionOp(
        "random.advance_counter",
        "ops.random.philox:advance_counter",
        counter=ARRAY,
        blocks=SIZE,
    ),
    RawFunctionOp(
        "random.permute_indices",
        "ops.random.stateless:permute_indices",
        key=ARRAY,
        counter=ARRAY,
        size=SIZE,
    ),
    RawFunctionOp(
        "random.shuffle_indices",
        "tf.random.stateless:shuffle_indices",
        indices=ARRAY,
        pairs=ARRAY,
        tops=ARRAY,
    ),
    CheckOp(
        "random.check_truncation",
        "tf.random.distribution:check_truncation",
        op=LABEL,
        means=TENSOR_LIKE,
        stddevs=TENSOR_LIKE,
        minvals=TENSOR_LIKE,
        maxvals=TENSOR_LIKE,
    ),
    CallOp(
        "random.uniform_candidates",
        "tf.random.candidate_sampler:uniform_candidate_sampler",
        **CANDIDATES,
        range_max=SIZE,
        seed=SEED,
    ),
    CallOp(
        "random.log_uniform_candidates",
        "tf.random.candidate_sampler:log_uniform_candidate_sampler",
        **CANDIDATES,
        range_max=SIZE,
        seed=SEED,
    ),
    CallOp(
        "random.all_candidates",
        "tf.random.candidate_sampler:all_candidate_sampler",
        **CANDIDATES,
        seed=SEED,
    ),
    CallOp(
        "random.fixed_unigram_candidates",
        "tf.random.unigram_sampler:fixed_unigram_candidate_sampler",
        **CANDIDATES,
        range_max=SIZE,
        vocab_file=NO_FILE,
        distortion=NUMBER,
        num_reserved_ids=SIZE,
        num_shards=SIZE,
        shard=SIZE,
        unigrams=SequenceOf(NUMBER),
        seed=SEED,
    ),
    CallOp(
        "random.learned_unigram_candidates",
        "tf.random.unigram_sampler:learned_unigram_candidate_sampler",
        **CANDIDATES,
        range_max=SIZE,
        seed=SEED,
    ),
)

MATH_OPS: tuple[HostOp, ...] = (
    GRADIENT_OPS + BIN_OPS + SEGMENT_OPS + LINALG_OPS + NN_OPS + RANDOM_OPS
)
