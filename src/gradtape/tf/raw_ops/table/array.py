"""Raw ops on shapes, indices and slices."""

ROWS = """
Assert(condition: bool, data: *T, summarize: int=3) -> nothing
    where T: any
    is tf.Assert(condition, data, summarize)

BatchToSpace(input: T, crops: Tidx, block_size: int) -> output: T
    where T: any; Tidx: index=int32
    is tf.batch_to_space(input, [block_size, block_size], crops)

BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> output: T
    where T: any; Tblock_shape: index=int32; Tcrops: index=int32
    is tf.batch_to_space(input, block_shape, crops)

Bitcast(input: T, type: type) -> output: type
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is tf.bitcast(input, type)

BroadcastArgs(s0: T, s1: T) -> r0: T
    where T: index=int32
    is tf.broadcast_dynamic_shape(s0, s1)

BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T
    where T: index=int32
    is raw.gradient.broadcast_gradient_args(s0, s1)

BroadcastTo(input: T, shape: Tidx) -> output: T
    where T: any; Tidx: index=int32
    is tf.broadcast_to(input, shape)

CheckNumerics(tensor: T, message: string) -> output: T
    where T: floating
    is tf.debugging.check_numerics(tensor, message)

CheckNumericsV2(tensor: T, message: string) -> output: T
    where T: floating
    is tf.debugging.check_numerics(tensor, message)

Concat(concat_dim: int32, values: N*T) -> output: T
    where N: int; T: any
    is tf.concat(values, concat_dim)

ConcatOffset(concat_dim: int32, shape: N*shape_type) -> offset: N*shape_type
    where N: int; shape_type: index=int32
    is raw.array_part.concat_offsets(concat_dim, shape)

ConcatV2(values: N*T, axis: Tidx) -> output: T
    where N: int; T: any; Tidx: index=int32
    is tf.concat(values, axis)

ConjugateTranspose(x: T, perm: Tperm) -> y: T
    where T: any; Tperm: index=int32
    is tf.transpose(x, perm, conjugate=True)

DataFormatDimMap(x: T, src_format: string='NHWC', dst_format: string='NCHW') -> y: T
    where T: index=int32
    is raw.array_part.map_dimensions(x, src_format, dst_format)

DataFormatVecPermute(x: T, src_format: string='NHWC', dst_format: string='NCHW') -> y: T
    where T: index=int32
    is raw.array_part.permute_vector(x, src_format, dst_format)

DepthToSpace(input: T, block_size: int, data_format: string='NHWC') -> output: T
    where T: any
    is tf.nn.depth_to_space(input, block_size, data_format)

Diag(diagonal: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int32 | int64
    is tf.linalg.tensor_diag(diagonal)

DiagPart(input: T) -> diagonal: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int32 | int64
    is tf.linalg.tensor_diag_part(input)

DynamicPartition(data: T, partitions: int32, num_partitions: int) -> outputs: num_partitions*T
    where T: any
    is tf.dynamic_partition(data, partitions, num_partitions)

DynamicStitch(indices: N*int32, data: N*T) -> merged: T
    where N: int; T: any
    is tf.dynamic_stitch(indices, data)

Empty(shape: int32, dtype: type, init: bool=False) -> output: dtype
    is tf.zeros(shape, dtype)

EnsureShape(input: T, shape: shape) -> output: T
    where T: any
    is tf.ensure_shape(input, shape)

ExpandDims(input: T, axis: Tdim) -> output: T
    where T: any; Tdim: index=int32
    is tf.expand_dims(input, axis)

ExtractImagePatches(images: T, ksizes: list(int), strides: list(int), rates: list(int), padding:
    string) -> patches: T
    where T: bfloat16 | bool | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.image.extract_patches(images, ksizes, strides, rates, padding)

ExtractVolumePatches(input: T, ksizes: list(int), strides: list(int), padding: string) ->
    patches: T
    where T: real
    is tf.extract_volume_patches(input, ksizes, strides, padding)

Fill(dims: index_type, value: T) -> output: T
    where T: any; index_type: index=int32
    is tf.fill(dims, value)

Fingerprint(data: T, method: string) -> fingerprint: uint8
    where T: any
    is tf.fingerprint(data, method)

Gather(params: Tparams, indices: Tindices, validate_indices: bool=True) -> output: Tparams
    where Tparams: any; Tindices: index
    is tf.gather(params, indices)

GatherNd(params: Tparams, indices: Tindices, bad_indices_policy: string='') -> output: Tparams
    where Tparams: any; Tindices: int16 | int32 | int64
    is tf.gather_nd(params, indices, bad_indices_policy=bad_indices_policy)

GatherV2(params: Tparams, indices: Tindices, axis: Taxis, batch_dims: int=0) -> output: Tparams
    where Tparams: any; Tindices: int16 | int32 | int64; Taxis: index
    is tf.gather(params, indices, axis=axis, batch_dims=batch_dims)

GuaranteeConst(input: T) -> output: T
    where T: any
    is tf.guarantee_const(input)

Identity(input: T) -> output: T
    where T: any
    is tf.identity(input)

IdentityN(input: *T) -> output: *T
    where T: any
    is tf.identity_n(input)

InplaceAdd(x: T, i: int32, v: T) -> y: T
    where T: any
    is raw.array_part.add_rows(x, i, v)

InplaceSub(x: T, i: int32, v: T) -> y: T
    where T: any
    is raw.array_part.subtract_rows(x, i, v)

InplaceUpdate(x: T, i: int32, v: T) -> y: T
    where T: any
    is raw.array_part.replace_rows(x, i, v)

InvertPermutation(x: T) -> y: T
    where T: index=int32
    is tf.math.invert_permutation(x)

ListDiff(x: T, y: T, out_idx: type=int32) -> out: T, idx: out_idx
    where T: any
    is raw.array_part.list_difference(x, y, out_idx)

LowerBound(sorted_inputs: T, values: T, out_type: type=int32) -> output: out_type
    where T: any
    is tf.searchsorted(sorted_inputs, values, side="left", out_type=out_type)

MirrorPad(input: T, paddings: Tpaddings, mode: string) -> output: T
    where T: any; Tpaddings: index=int32
    is tf.pad(input, paddings, mode)

MirrorPadGrad(input: T, paddings: Tpaddings, mode: string) -> output: T
    where T: any; Tpaddings: index=int32
    is raw.pullback.pull_back_mirror_pad(input, paddings, mode)

NoOp() -> nothing
    is tf.no_op()

OneHot(indices: TI, depth: int32, on_value: T, off_value: T, axis: int=-1) -> output: T
    where T: any; TI: int32 | int64 | int8 | uint8=int64
    is tf.one_hot(indices, depth, on_value, off_value, axis)

OnesLike(x: T) -> y: T
    where T: bfloat16 | bool | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | uint16 | uint32 | uint64 | uint8
    is tf.ones_like(x)

Pack(values: N*T, axis: int=0) -> output: T
    where N: int; T: any
    is tf.stack(values, axis)

Pad(input: T, paddings: Tpaddings) -> output: T
    where T: any; Tpaddings: index=int32
    is tf.pad(input, paddings)

PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T
    where T: any; Tpaddings: index=int32
    is tf.pad(input, paddings, constant_values=constant_values)

ParallelDynamicStitch(indices: N*int32, data: N*T) -> merged: T
    where N: int; T: any
    is tf.dynamic_stitch(indices, data)

PreventGradient(input: T, message: string='') -> output: T
    where T: any
    is raw.pullback.prevent_gradient(input, message)

Rank(input: T) -> output: int32
    where T: any
    is tf.rank(input)

Reshape(tensor: T, shape: Tshape) -> output: T
    where T: any; Tshape: index=int32
    is tf.reshape(tensor, shape)

Reverse(tensor: T, dims: bool) -> output: T
    where T: bfloat16 | bool | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | string | uint16 | uint32 | uint64 | uint8
    is raw.array_part.reverse_chosen(tensor, dims)

ReverseSequence(input: T, seq_lengths: Tlen, seq_dim: int, batch_dim: int=0) -> output: T
    where T: any; Tlen: index=int64
    is tf.reverse_sequence(input, seq_lengths, seq_axis=seq_dim, batch_axis=batch_dim)

ReverseV2(tensor: T, axis: Tidx) -> output: T
    where Tidx: index=int32; T: bfloat16 | bool | complex128 | complex64 | float16 | float32 |
    float64 | int16 | int32 | int64 | int8 | string | uint16 | uint32 | uint64 | uint8
    is tf.reverse(tensor, axis)

Roll(input: T, shift: Tshift, axis: Taxis) -> output: T
    where T: any; Tshift: index; Taxis: index
    is tf.roll(input, shift, axis)

ScatterNd(indices: Tindices, updates: T, shape: Tindices, bad_indices_policy: string='') ->
    output: T
    where T: any; Tindices: int16 | int32 | int64
    is tf.scatter_nd(indices, updates, shape, bad_indices_policy=bad_indices_policy)

ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T, bad_indices_policy: string='')
    -> output: T
    where T: bfloat16 | bool | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64
    | uint8; Tindices: index
    is tf.tensor_scatter_nd_add(input, indices, updates)

Select(condition: bool, x: T, y: T) -> output: T
    where T: any
    is raw.array_part.select(condition, x, y)

SelectV2(condition: bool, t: T, e: T) -> output: T
    where T: any
    is tf.where(condition, t, e)

Shape(input: T, out_type: type=int32) -> output: out_type
    where T: any
    is tf.shape(input, out_type)

ShapeN(input: N*T, out_type: type=int32) -> output: N*out_type
    where N: int; T: any
    is tf.shape_n(input, out_type)

Size(input: T, out_type: type=int32) -> output: out_type
    where T: any
    is tf.size(input, out_type)

Slice(input: T, begin: Index, size: Index) -> output: T
    where T: any; Index: index
    is tf.slice(input, begin, size)

Snapshot(input: T) -> output: T
    where T: any
    is tf.identity(input)

SpaceToBatch(input: T, paddings: Tpaddings, block_size: int) -> output: T
    where T: any; Tpaddings: index=int32
    is tf.space_to_batch(input, [block_size, block_size], paddings)

SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> output: T
    where T: any; Tblock_shape: index=int32; Tpaddings: index=int32
    is tf.space_to_batch(input, block_shape, paddings)

SpaceToDepth(input: T, block_size: int, data_format: string='NHWC') -> output: T
    where T: any
    is tf.nn.space_to_depth(input, block_size, data_format)

Split(axis: int32, value: T, num_split: int) -> output: num_split*T
    where T: any
    is tf.split(value, num_split, axis)

SplitV(value: T, size_splits: Tlen, axis: int32, num_split: int) -> output: num_split*T
    where T: any; Tlen: int32 | int64 | int8=int64
    is tf.split(value, size_splits, axis)

Squeeze(input: T, axis: list(int)=()) -> output: T
    where T: any
    is tf.squeeze(input, axis or None)

StopGradient(input: T) -> output: T
    where T: any
    is tf.stop_gradient(input)

StridedSlice(input: T, begin: Index, end: Index, strides: Index, begin_mask: int=0, end_mask:
    int=0, ellipsis_mask: int=0, new_axis_mask: int=0, shrink_axis_mask: int=0) -> output: T
    where T: any; Index: int16 | int32 | int64
    is tf.strided_slice(input, begin, end, strides, begin_mask, end_mask, ellipsis_mask,
    new_axis_mask, shrink_axis_mask)

StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T, begin_mask:
    int=0, end_mask: int=0, ellipsis_mask: int=0, new_axis_mask: int=0, shrink_axis_mask: int=0)
    -> output: T
    where T: any; Index: index
    is raw.pullback.pull_back_slice(shape, begin, end, strides, dy, begin_mask, end_mask,
    ellipsis_mask, new_axis_mask, shrink_axis_mask)

TensorScatterAdd(tensor: T, indices: Tindices, updates: T, bad_indices_policy: string='') ->
    output: T
    where T: any; Tindices: index
    is tf.tensor_scatter_nd_add(tensor, indices, updates)

TensorScatterMax(tensor: T, indices: Tindices, updates: T, bad_indices_policy: string='') ->
    output: T
    where T: any; Tindices: index
    is tf.tensor_scatter_nd_max(tensor, indices, updates)

TensorScatterMin(tensor: T, indices: Tindices, updates: T, bad_indices_policy: string='') ->
    output: T
    where T: any; Tindices: index
    is tf.tensor_scatter_nd_min(tensor, indices, updates)

TensorScatterSub(tensor: T, indices: Tindices, updates: T, bad_indices_policy: string='') ->
    output: T
    where T: any; Tindices: index
    is tf.tensor_scatter_nd_sub(tensor, indices, updates)

TensorScatterUpdate(tensor: T, indices: Tindices, updates: T, bad_indices_policy: string='') ->
    output: T
    where T: any; Tindices: int16 | int32 | int64 | uint16
    is tf.tensor_scatter_nd_update(tensor, indices, updates)

Tile(input: T, multiples: Tmultiples) -> output: T
    where T: any; Tmultiples: index=int32
    is tf.tile(input, multiples)

Timestamp() -> ts: float64
    is tf.timestamp()

TopKV2(input: T, k: Tk, sorted: bool=True, index_type: type=int32) -> values: T, indices:
    index_type
    where T: real; Tk: int16 | int32 | int64=int32
    is tf.math.top_k(input, k, sorted, index_type)

Transpose(x: T, perm: Tperm) -> y: T
    where T: any; Tperm: index=int32
    is tf.transpose(x, perm)

Unique(x: T, out_idx: type=int32) -> y: T, idx: out_idx
    where T: any
    is tf.unique(x, out_idx)

UniqueV2(x: T, axis: Taxis, out_idx: type=int32) -> y: T, idx: out_idx
    where T: any; Taxis: index=int64
    is raw.unique_bucketize.unique(x, axis, out_idx)

UniqueWithCounts(x: T, out_idx: type=int32) -> y: T, idx: out_idx, count: out_idx
    where T: any
    is tf.unique_with_counts(x, out_idx)

UniqueWithCountsV2(x: T, axis: Taxis, out_idx: type=int32) -> y: T, idx: out_idx, count: out_idx
    where T: any; Taxis: index=int64
    is raw.unique_bucketize.unique_with_counts(x, axis, out_idx)

Unpack(value: T, num: int, axis: int=0) -> output: num*T
    where T: any
    is tf.unstack(value, num, axis)

UnravelIndex(indices: Tidx, dims: Tidx) -> output: Tidx
    where Tidx: index=int32
    is tf.unravel_index(indices, dims)

UpperBound(sorted_inputs: T, values: T, out_type: type=int32) -> output: out_type
    where T: any
    is tf.searchsorted(sorted_inputs, values, side="right", out_type=out_type)

Where(condition: T) -> index: int64
    where T: bfloat16 | bool | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64
    | uint8=bool
    is tf.where(condition)

ZerosLike(x: T) -> y: T
    where T: any
    is tf.zeros_like(x)
"""
