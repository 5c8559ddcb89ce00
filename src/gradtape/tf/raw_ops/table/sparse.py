"""Raw ops on sparse and ragged tensors and on sets."""

ROWS = """
DenseToDenseSetOperation(set1: T, set2: T, set_operation: string, validate_indices: bool=True)
    -> result_indices: int64, result_values: T, result_shape: int64
    where T: int16 | int32 | int64 | int8 | string | uint16 | uint8
    is raw.sparse_part.combine_sets(set1, set2, set_operation, validate_indices)

DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64,
    set_operation: string, validate_indices: bool=True) -> result_indices: int64, result_values:
    T, result_shape: int64
    where T: int16 | int32 | int64 | int8 | string | uint16 | uint8
    is raw.sparse_part.combine_sets(set1, tf.SparseTensor(set2_indices, set2_values,
    set2_shape), set_operation, validate_indices)

RaggedFillEmptyRows(value_rowids: int64, values: T, nrows: int64, default_value: T) ->
    output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map:
    int64
    where T: any
    is tf.ragged_fill_empty_rows(value_rowids, values, nrows, default_value)

RaggedFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T,
    d_default_value: T
    where T: any
    is tf.ragged_fill_empty_rows_grad(reverse_index_map, grad_values)

RaggedRange(starts: T, limits: T, deltas: T, Tsplits: type=int64) -> rt_nested_splits: Tsplits,
    rt_dense_values: T
    where T: bfloat16 | float32 | float64 | int32 | int64=int32
    is raw.sparse_part.ragged_range(starts, limits, deltas, Tsplits)

RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T) ->
    sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64
    where RAGGED_RANK: int; T: any; Tsplits: index=int64
    is raw.sparse_part.ragged_to_sparse(rt_nested_splits, rt_dense_values)

SetSize(set_indices: int64, set_values: T, set_shape: int64, validate_indices: bool=True) ->
    size: int32
    where T: int16 | int32 | int64 | int8 | string | uint16 | uint8
    is tf.sets.size(tf.SparseTensor(set_indices, set_values, set_shape), validate_indices)

SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape:
    int64, thresh: Treal) -> sum_indices: int64, sum_values: T, sum_shape: int64
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Treal: real
    is raw.sparse_part.parts_of(tf.sparse.add(tf.SparseTensor(a_indices, a_values, a_shape),
    tf.SparseTensor(b_indices, b_values, b_shape), thresh))

SparseConcat(indices: N*int64, values: N*T, shapes: N*int64, concat_dim: int) -> output_indices:
    int64, output_values: T, output_shape: int64
    where N: int; T: any
    is raw.sparse_part.concat(indices, values, shapes, concat_dim)

SparseDenseCwiseAdd(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is raw.sparse_part.combine_with_dense(tf.add, sp_indices, sp_values, sp_shape, dense)

SparseDenseCwiseDiv(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is raw.sparse_part.combine_with_dense(raw.array_part.divide_truncated, sp_indices,
    sp_values, sp_shape, dense)

SparseDenseCwiseMul(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is raw.sparse_part.combine_with_dense(tf.multiply, sp_indices, sp_values, sp_shape, dense)

SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) ->
    output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64
    where T: any
    is raw.sparse_part.fill_empty_rows(indices, values, dense_shape, default_value)

SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T,
    d_default_value: T
    where T: any
    is tf.ragged_fill_empty_rows_grad(reverse_index_map, grad_values)

SparseReduceMax(input_indices: int64, input_values: T, input_shape: int64, reduction_axes:
    int32, keep_dims: bool=False) -> output: T
    where T: real
    is tf.sparse.reduce_max(tf.SparseTensor(input_indices, input_values, input_shape),
    reduction_axes, keep_dims)

SparseReduceSum(input_indices: int64, input_values: T, input_shape: int64, reduction_axes:
    int32, keep_dims: bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is tf.sparse.reduce_sum(tf.SparseTensor(input_indices, input_values, input_shape),
    reduction_axes, keep_dims)

SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> output_indices:
    int64, output_values: T
    where T: any
    is raw.sparse_part.parts_of(tf.sparse.reorder(tf.SparseTensor(input_indices, input_values,
    input_shape)))[:2]

SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> output_indices:
    int64, output_shape: int64
    is raw.sparse_part.reshape(input_indices, input_shape, new_shape)

SparseSegmentMean(data: T, indices: Tidx, segment_ids: Tsegmentids, sparse_gradient: bool=False)
    -> output: T
    where T: floating; Tidx: index=int32; Tsegmentids: index=int32
    is tf.sparse.segment_mean(data, indices, segment_ids)

SparseSegmentMeanWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments:
    Tnumsegments, sparse_gradient: bool=False) -> output: T
    where T: floating; Tidx: index=int32; Tnumsegments: index=int32; Tsegmentids: index=int32
    is tf.sparse.segment_mean(data, indices, segment_ids, num_segments)

SparseSegmentSqrtN(data: T, indices: Tidx, segment_ids: Tsegmentids, sparse_gradient:
    bool=False) -> output: T
    where T: floating; Tidx: index=int32; Tsegmentids: index=int32
    is tf.sparse.segment_sqrt_n(data, indices, segment_ids)

SparseSegmentSqrtNWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids,
    num_segments: Tnumsegments, sparse_gradient: bool=False) -> output: T
    where T: floating; Tidx: index=int32; Tnumsegments: index=int32; Tsegmentids: index=int32
    is tf.sparse.segment_sqrt_n(data, indices, segment_ids, num_segments)

SparseSegmentSum(data: T, indices: Tidx, segment_ids: Tsegmentids, sparse_gradient: bool=False)
    -> output: T
    where T: real; Tidx: index=int32; Tsegmentids: index=int32
    is tf.sparse.segment_sum(data, indices, segment_ids)

SparseSegmentSumWithNumSegments(data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments:
    Tnumsegments, sparse_gradient: bool=False) -> output: T
    where T: real; Tidx: index=int32; Tnumsegments: index=int32; Tsegmentids: index=int32
    is tf.sparse.segment_sum(data, indices, segment_ids, num_segments)

SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) ->
    output_indices: int64, output_values: T, output_shape: int64
    where T: any
    is raw.sparse_part.parts_of(tf.sparse.slice(tf.SparseTensor(indices, values, shape), start,
    size))

SparseSoftmax(sp_indices: int64, sp_values: T, sp_shape: int64) -> output: T
    where T: float16 | float32 | float64
    is tf.sparse.softmax(tf.SparseTensor(sp_indices, sp_values, sp_shape)).values

SparseSparseMaximum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values:
    T, b_shape: int64) -> output_indices: int64, output_values: T
    where T: real
    is raw.sparse_part.parts_of(tf.sparse.maximum(tf.SparseTensor(a_indices, a_values, a_shape),
    tf.SparseTensor(b_indices, b_values, b_shape)))[:2]

SparseSparseMinimum(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values:
    T, b_shape: int64) -> output_indices: int64, output_values: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is raw.sparse_part.parts_of(tf.sparse.minimum(tf.SparseTensor(a_indices, a_values, a_shape),
    tf.SparseTensor(b_indices, b_values, b_shape)))[:2]

SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64, num_split: int) ->
    output_indices: num_split*int64, output_values: num_split*T, output_shape: num_split*int64
    where T: any
    is raw.sparse_part.split(split_dim, indices, values, shape, num_split)

SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tindices: index
    is tf.sparse.add(tf.SparseTensor(a_indices, a_values, a_shape), b)

SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T, adjoint_a:
    bool=False, adjoint_b: bool=False) -> product: T
    where T: any; Tindices: index=int64
    is tf.sparse.sparse_dense_matmul(tf.SparseTensor(a_indices, a_values, a_shape), b,
    adjoint_a, adjoint_b)

SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value:
    T, validate_indices: bool=True) -> dense: T
    where T: any; Tindices: index
    is raw.sparse_part.fill_dense(sparse_indices, output_shape, sparse_values, default_value,
    validate_indices)

SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices:
    int64, set2_values: T, set2_shape: int64, set_operation: string, validate_indices:
    bool=True) -> result_indices: int64, result_values: T, result_shape: int64
    where T: int16 | int32 | int64 | int8 | string | uint16 | uint8
    is raw.sparse_part.combine_sets(tf.SparseTensor(set1_indices, set1_values, set1_shape),
    tf.SparseTensor(set2_indices, set2_values, set2_shape), set_operation, validate_indices)
"""
