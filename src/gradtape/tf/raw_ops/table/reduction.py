"""Raw reductions, cumulative sums, segments and ranges."""

ROWS = """
AddN(inputs: N*T) -> sum: T
    where N: int; T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64
    | uint8 | variant
    is tf.add_n(inputs)

All(input: bool, axis: Tidx, keep_dims: bool=False) -> output: bool
    where Tidx: index=int32
    is tf.reduce_all(input, axis, keep_dims)

Any(input: bool, axis: Tidx, keep_dims: bool=False) -> output: bool
    where Tidx: index=int32
    is tf.reduce_any(input, axis, keep_dims)

ArgMax(input: T, dimension: Tidx, output_type: type=int64) -> output: output_type
    where T: bfloat16 | bool | float16 | float32 | float64 | int16 | int32 | int64 | int8 |
    qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8; Tidx: int16 |
    int32 | int64=int32
    is tf.argmax(input, dimension, output_type)

ArgMin(input: T, dimension: Tidx, output_type: type=int64) -> output: output_type
    where T: bfloat16 | bool | float16 | float32 | float64 | int16 | int32 | int64 | int8 |
    qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8; Tidx:
    index=int32
    is tf.argmin(input, dimension, output_type)

Bincount(arr: int32, size: int32, weights: T) -> bins: T
    where T: float32 | float64 | int32 | int64
    is raw.reduction_part.count_weighted(arr, size, weights)

Cumprod(x: T, axis: Tidx, exclusive: bool=False, reverse: bool=False) -> out: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tidx: index=int32
    is tf.math.cumprod(x, axis, exclusive, reverse)

Cumsum(x: T, axis: Tidx, exclusive: bool=False, reverse: bool=False) -> out: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tidx: index=int32
    is tf.cumsum(x, axis, exclusive, reverse)

CumulativeLogsumexp(x: T, axis: Tidx, exclusive: bool=False, reverse: bool=False) -> out: T
    where T: floating; Tidx: index=int32
    is tf.math.cumulative_logsumexp(x, axis, exclusive, reverse)

DenseBincount(input: Tidx, size: Tidx, weights: T, binary_output: bool=False) -> output: T
    where Tidx: index; T: float32 | float64 | int32 | int64
    is raw.reduction_part.count_dense(input, size, weights, binary_output)

EuclideanNorm(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tidx: index=int32
    is tf.math.reduce_euclidean_norm(input, axis, keep_dims)

HistogramFixedWidth(values: T, value_range: T, nbins: int32, dtype: type=int32) -> out: dtype
    where T: float32 | float64 | int32 | int64
    is tf.histogram_fixed_width(values, value_range, nbins, dtype)

LinSpace(start: T, stop: T, num: Tidx) -> output: T
    where T: floating; Tidx: index=int32
    is tf.linspace(start, stop, num)

Max(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | qint16 |
    qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8; Tidx: index=int32
    is tf.reduce_max(input, axis, keep_dims)

Mean(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tidx: index=int32
    is tf.reduce_mean(input, axis, keep_dims)

Min(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | qint16 |
    qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8; Tidx: index=int32
    is tf.reduce_min(input, axis, keep_dims)

Prod(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tidx: index=int32
    is tf.reduce_prod(input, axis, keep_dims)

Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx
    where Tidx: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | uint16 |
    uint32 | uint64=int32
    is tf.range(start, limit, delta)

SegmentMax(data: T, segment_ids: Tindices) -> output: T
    where T: real; Tindices: index
    is tf.math.segment_max(data, segment_ids)

SegmentMean(data: T, segment_ids: Tindices) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tindices: index
    is tf.math.segment_mean(data, segment_ids)

SegmentMin(data: T, segment_ids: Tindices) -> output: T
    where T: real; Tindices: index
    is tf.math.segment_min(data, segment_ids)

SegmentProd(data: T, segment_ids: Tindices) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tindices: index
    is tf.math.segment_prod(data, segment_ids)

SegmentSum(data: T, segment_ids: Tindices) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tindices: index
    is tf.math.segment_sum(data, segment_ids)

SobolSample(dim: int32, num_results: int32, skip: int32, dtype: type=float32) -> samples: dtype
    is tf.math.sobol_sample(dim, num_results, skip, dtype)

Sum(input: T, axis: Tidx, keep_dims: bool=False) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tidx: index=int32
    is tf.reduce_sum(input, axis, keep_dims)

UnsortedSegmentMax(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T
    where T: real; Tindices: index; Tnumsegments: index=int32
    is tf.math.unsorted_segment_max(data, segment_ids, num_segments)

UnsortedSegmentMin(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T
    where T: real; Tindices: index; Tnumsegments: index=int32
    is tf.math.unsorted_segment_min(data, segment_ids, num_segments)

UnsortedSegmentProd(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tindices: index; Tnumsegments: index=int32
    is tf.math.unsorted_segment_prod(data, segment_ids, num_segments)

UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 |
    uint8; Tindices: int16 | int32 | int64; Tnumsegments: index=int32
    is tf.math.unsorted_segment_sum(data, segment_ids, num_segments)
"""
