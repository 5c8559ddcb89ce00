"""Raw ops of neural networks."""

ROWS = """
AvgPool(value: T, ksize: list(int), strides: list(int), padding: string, data_format:
    string='NHWC') -> output: T
    where T: floating
    is tf.nn.avg_pool2d(value, ksize, strides, padding, data_format)

AvgPool3D(input: T, ksize: list(int), strides: list(int), padding: string, data_format:
    string='NDHWC') -> output: T
    where T: floating
    is tf.nn.avg_pool3d(input, ksize, strides, padding, data_format)

AvgPool3DGrad(orig_input_shape: int32, grad: T, ksize: list(int), strides: list(int), padding:
    string, data_format: string='NDHWC') -> output: T
    where T: floating
    is raw.pullback.pull_back_pool(tf.nn.avg_pool3d, orig_input_shape, grad, ksize, strides,
    padding, data_format)

AvgPoolGrad(orig_input_shape: int32, grad: T, ksize: list(int), strides: list(int), padding:
    string, data_format: string='NHWC') -> output: T
    where T: floating
    is raw.pullback.pull_back_pool(tf.nn.avg_pool2d, orig_input_shape, grad, ksize, strides,
    padding, data_format)

BiasAdd(value: T, bias: T, data_format: string='NHWC') -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is tf.nn.bias_add(value, bias, data_format)

BiasAddGrad(out_backprop: T, data_format: string='NHWC') -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is raw.pointwise_gradient.bias_add_grad(out_backprop, data_format)

BiasAddV1(value: T, bias: T) -> output: T
    where T: bfloat16 | complex128 | complex64 | float16 | float32 | float64 | int16 | int32 |
    int64 | int8 | qint16 | qint32 | qint8 | quint16 | quint8 | uint16 | uint32 | uint64 | uint8
    is tf.nn.bias_add(value, bias)

BlockLSTM(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T,
    forget_bias: float=1, cell_clip: float=3, use_peephole: bool=False) -> i: T, cs: T, f: T, o:
    T, ci: T, co: T, h: T
    where T: float16 | float32
    is raw.lstm.block_lstm(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias,
    cell_clip, use_peephole)

BlockLSTMV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T,
    cell_clip: float=0, use_peephole: bool=False) -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T
    where T: float16 | float32
    is raw.lstm.block_lstm_v2(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, cell_clip,
    use_peephole)

CTCGreedyDecoder(inputs: T, sequence_length: int32, merge_repeated: bool=False, blank_index:
    int=-1) -> decoded_indices: int64, decoded_values: int64, decoded_shape: int64,
    log_probability: T
    where T: float32 | float64=float32
    is raw.sampling_part.decode_greedily(inputs, sequence_length, merge_repeated, blank_index)

Conv2D(input: T, filter: T, strides: list(int), padding: string, use_cudnn_on_gpu: bool=True,
    explicit_paddings: list(int)=(), data_format: string='NHWC', dilations: list(int)=[1, 1, 1,
    1]) -> output: T
    where T: bfloat16 | float16 | float32 | float64 | int32
    is raw.convolution.conv2d(input, filter, strides, padding, explicit_paddings, data_format,
    dilations)

Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T, strides: list(int),
    padding: string, use_cudnn_on_gpu: bool=True, explicit_paddings: list(int)=(), data_format:
    string='NHWC', dilations: list(int)=[1, 1, 1, 1]) -> output: T
    where T: floating
    is raw.convolution.conv2d_filter_gradient(input, filter_sizes, out_backprop, strides,
    padding, explicit_paddings, data_format, dilations)

Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T, strides: list(int), padding:
    string, use_cudnn_on_gpu: bool=True, explicit_paddings: list(int)=(), data_format:
    string='NHWC', dilations: list(int)=[1, 1, 1, 1]) -> output: T
    where T: bfloat16 | float16 | float32 | float64 | int32
    is raw.convolution.conv2d_input_gradient(input_sizes, filter, out_backprop, strides,
    padding, explicit_paddings, data_format, dilations)

Conv3D(input: T, filter: T, strides: list(int), padding: string, data_format: string='NDHWC',
    dilations: list(int)=[1, 1, 1, 1, 1]) -> output: T
    where T: floating
    is tf.nn.conv3d(input, filter, strides, padding, data_format, dilations)

Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T, strides: list(int),
    padding: string, data_format: string='NDHWC', dilations: list(int)=[1, 1, 1, 1, 1]) ->
    output: T
    where T: floating
    is raw.convolution.conv3d_filter_gradient(input, filter_sizes, out_backprop, strides,
    padding, data_format, dilations)

Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T, strides: list(int),
    padding: string, data_format: string='NDHWC', dilations: list(int)=[1, 1, 1, 1, 1]) ->
    output: T
    where T: floating; Tshape: index=int32
    is raw.convolution.conv3d_input_gradient(input_sizes, filter, out_backprop, strides,
    padding, data_format, dilations)

DepthwiseConv2dNative(input: T, filter: T, strides: list(int), padding: string,
    explicit_paddings: list(int)=(), data_format: string='NHWC', dilations: list(int)=[1, 1, 1,
    1]) -> output: T
    where T: floating
    is raw.convolution.depthwise_conv2d(input, filter, strides, padding, explicit_paddings,
    data_format, dilations)

DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T, strides:
    list(int), padding: string, explicit_paddings: list(int)=(), data_format: string='NHWC',
    dilations: list(int)=[1, 1, 1, 1]) -> output: T
    where T: floating
    is tf.nn.depthwise_conv2d_backprop_filter(input, filter_sizes, out_backprop, strides,
    padding, data_format, dilations[1:3])

DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T, strides:
    list(int), padding: string, explicit_paddings: list(int)=(), data_format: string='NHWC',
    dilations: list(int)=[1, 1, 1, 1]) -> output: T
    where T: floating
    is tf.nn.depthwise_conv2d_backprop_input(input_sizes, filter, out_backprop, strides,
    padding, data_format, dilations[1:3])

Dilation2D(input: T, filter: T, strides: list(int), rates: list(int), padding: string) ->
    output: T
    where T: real
    is tf.nn.dilation2d(input, filter, strides, padding, "NHWC", rates)

Elu(features: T) -> activations: T
    where T: floating
    is tf.nn.elu(features)

EluGrad(gradients: T, outputs: T) -> backprops: T
    where T: floating
    is raw.pointwise_gradient.elu_grad(gradients, outputs)

FractionalAvgPool(value: T, pooling_ratio: list(float), pseudo_random: bool=False, overlapping:
    bool=False, deterministic: bool=False, seed: int=0, seed2: int=0) -> output: T,
    row_pooling_sequence: int64, col_pooling_sequence: int64
    where T: float32 | float64 | int32 | int64
    is raw.sampling_part.pool_fractionally(tf.nn.fractional_avg_pool, value, pooling_ratio,
    pseudo_random, overlapping, seed)

FractionalMaxPool(value: T, pooling_ratio: list(float), pseudo_random: bool=False, overlapping:
    bool=False, deterministic: bool=False, seed: int=0, seed2: int=0) -> output: T,
    row_pooling_sequence: int64, col_pooling_sequence: int64
    where T: float32 | float64 | int32 | int64
    is raw.sampling_part.pool_fractionally(tf.nn.fractional_max_pool, value, pooling_ratio,
    pseudo_random, overlapping, seed)

FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T, epsilon: float=0.0001,
    exponential_avg_factor: float=1, data_format: string='NHWC', is_training: bool=True) -> y:
    T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T
    where T: float32
    is raw.batch_norm.fused_batch_norm(x, scale, offset, mean, variance, epsilon,
    exponential_avg_factor, data_format, is_training)[:5]

FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T,
    epsilon: float=0.0001, data_format: string='NHWC', is_training: bool=True) -> x_backprop: T,
    scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T
    where T: float32
    is raw.batch_norm.fused_batch_norm_gradient(y_backprop, x, scale, reserve_space_1,
    reserve_space_2, epsilon, data_format, is_training)

FusedBatchNormGradV2(y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2:
    U, epsilon: float=0.0001, data_format: string='NHWC', is_training: bool=True) -> x_backprop:
    T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U
    where T: bfloat16 | float16 | float32; U: float32
    is raw.batch_norm.fused_batch_norm_gradient(y_backprop, x, scale, reserve_space_1,
    reserve_space_2, epsilon, data_format, is_training)

FusedBatchNormGradV3(y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2:
    U, reserve_space_3: U, epsilon: float=0.0001, data_format: string='NHWC', is_training:
    bool=True) -> x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U,
    reserve_space_5: U
    where T: bfloat16 | float16 | float32; U: float32
    is raw.batch_norm.fused_batch_norm_gradient(y_backprop, x, scale, reserve_space_1,
    reserve_space_2, epsilon, data_format, is_training)

FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U, epsilon: float=0.0001,
    exponential_avg_factor: float=1, data_format: string='NHWC', is_training: bool=True) -> y:
    T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U
    where T: bfloat16 | float16 | float32; U: float32
    is raw.batch_norm.fused_batch_norm(x, scale, offset, mean, variance, epsilon,
    exponential_avg_factor, data_format, is_training)[:5]

FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U, epsilon: float=0.0001,
    exponential_avg_factor: float=1, data_format: string='NHWC', is_training: bool=True) -> y:
    T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U,
    reserve_space_3: U
    where T: bfloat16 | float16 | float32; U: bfloat16 | float32
    is raw.batch_norm.fused_batch_norm(x, scale, offset, mean, variance, epsilon,
    exponential_avg_factor, data_format, is_training)

InTopK(predictions: float32, targets: T, k: int) -> precision: bool
    where T: index=int32
    is tf.math.in_top_k(targets, predictions, k)

InTopKV2(predictions: float32, targets: T, k: T) -> precision: bool
    where T: index=int32
    is tf.math.in_top_k(targets, predictions, k)

IsotonicRegression(input: T, output_dtype: type=float32) -> output: output_dtype, segments:
    int32
    where T: real
    is tf.nn.isotonic_regression(input, decreasing=True, axis=-1)

L2Loss(t: T) -> output: T
    where T: floating
    is tf.nn.l2_loss(t)

LRN(input: T, depth_radius: int=5, bias: float=1, alpha: float=1, beta: float=0.5) -> output: T
    where T: bfloat16 | float16 | float32=float32
    is tf.nn.local_response_normalization(input, depth_radius, bias, alpha, beta)

LSTMBlockCell(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, forget_bias:
    float=1, cell_clip: float=3, use_peephole: bool=False) -> i: T, cs: T, f: T, o: T, ci: T,
    co: T, h: T
    where T: float16 | float32
    is raw.lstm.lstm_block_cell(x, cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias, cell_clip,
    use_peephole)

LeakyRelu(features: T, alpha: float=0.2) -> activations: T
    where T: floating=float32
    is tf.nn.leaky_relu(features, alpha)

LeakyReluGrad(gradients: T, features: T, alpha: float=0.2) -> backprops: T
    where T: floating=float32
    is raw.pointwise_gradient.leaky_relu_grad(gradients, features, alpha)

LogSoftmax(logits: T) -> logsoftmax: T
    where T: floating
    is tf.nn.log_softmax(logits)

MaxPool(input: T, ksize: list(int), strides: list(int), padding: string, explicit_paddings:
    list(int)=(), data_format: string='NHWC') -> output: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | qint8 |
    uint16 | uint8=float32
    is tf.nn.max_pool2d(input, ksize, strides, raw.convolution.join_paddings(padding,
    explicit_paddings), data_format)

MaxPool3D(input: T, ksize: list(int), strides: list(int), padding: string, data_format:
    string='NDHWC') -> output: T
    where T: bfloat16 | float16 | float32
    is tf.nn.max_pool3d(input, ksize, strides, padding, data_format)

MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T, ksize: list(int), strides:
    list(int), padding: string, data_format: string='NDHWC') -> output: T
    where T: bfloat16 | float16 | float32=float32; TInput: bfloat16 | float16 | float32=float32
    is raw.pullback.pull_back_max_pool(tf.nn.max_pool3d, orig_input, grad, ksize, strides,
    padding, data_format)

MaxPoolGrad(orig_input: T, orig_output: T, grad: T, ksize: list(int), strides: list(int),
    padding: string, explicit_paddings: list(int)=(), data_format: string='NHWC') -> output: T
    where T: real=float32
    is raw.pullback.pull_back_max_pool(tf.nn.max_pool2d, orig_input, grad, ksize, strides,
    raw.convolution.join_paddings(padding, explicit_paddings), data_format)

MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32, padding:
    string, data_format: string='NHWC') -> output: T
    where T: real=float32
    is raw.pullback.pull_back_max_pool(tf.nn.max_pool2d, orig_input, grad, ksize, strides,
    padding, data_format)

MaxPoolV2(input: T, ksize: int32, strides: int32, padding: string, data_format: string='NHWC')
    -> output: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | qint8 |
    uint16 | uint8=float32
    is tf.nn.max_pool2d(input, ksize, strides, padding, data_format)

MaxPoolWithArgmax(input: T, ksize: list(int), strides: list(int), padding: string, Targmax:
    type=int64, include_batch_in_index: bool=False) -> output: T, argmax: Targmax
    where T: real
    is tf.nn.max_pool_with_argmax(input, ksize, strides, padding, "NHWC", Targmax,
    include_batch_in_index)

NthElement(input: T, n: int32, reverse: bool=False) -> values: T
    where T: real
    is raw.array_part.nth_element(input, n, reverse)

Relu(features: T) -> activations: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | qint8 |
    uint16 | uint32 | uint64 | uint8
    is tf.nn.relu(features)

Relu6(features: T) -> activations: T
    where T: real
    is tf.nn.relu6(features)

Relu6Grad(gradients: T, features: T) -> backprops: T
    where T: real
    is raw.pointwise_gradient.relu6_grad(gradients, features)

ReluGrad(gradients: T, features: T) -> backprops: T
    where T: real
    is raw.pointwise_gradient.relu_grad(gradients, features)

Selu(features: T) -> activations: T
    where T: floating
    is tf.nn.selu(features)

SeluGrad(gradients: T, outputs: T) -> backprops: T
    where T: floating
    is raw.pointwise_gradient.selu_grad(gradients, outputs)

Softmax(logits: T) -> softmax: T
    where T: floating
    is tf.nn.softmax(logits)

SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T
    where T: floating
    is raw.reduction_part.softmax_cross_entropy(features, labels)

Softplus(features: T) -> activations: T
    where T: floating
    is tf.nn.softplus(features)

SoftplusGrad(gradients: T, features: T) -> backprops: T
    where T: floating
    is raw.pointwise_gradient.softplus_grad(gradients, features)

Softsign(features: T) -> activations: T
    where T: floating
    is tf.nn.softsign(features)

SoftsignGrad(gradients: T, features: T) -> backprops: T
    where T: floating
    is raw.pointwise_gradient.softsign_grad(gradients, features)

SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T
    where T: floating; Tlabels: index=int64
    is raw.reduction_part.sparse_softmax_cross_entropy(features, labels)
"""
