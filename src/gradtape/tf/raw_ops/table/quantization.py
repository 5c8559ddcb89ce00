"""Raw ops that round to small integer types."""

ROWS = """
FakeQuantWithMinMaxArgs(inputs: float32, min: float=-6, max: float=6, num_bits: int=8,
    narrow_range: bool=False) -> outputs: float32
    is tf.quantization.fake_quant_with_min_max_args(inputs, min, max, num_bits, narrow_range)

FakeQuantWithMinMaxArgsGradient(gradients: float32, inputs: float32, min: float=-6, max:
    float=6, num_bits: int=8, narrow_range: bool=False) -> backprops: float32
    is tf.quantization.fake_quant_with_min_max_args_gradient(gradients, inputs, min, max,
    num_bits, narrow_range)

FakeQuantWithMinMaxVars(inputs: float32, min: float32, max: float32, num_bits: int=8,
    narrow_range: bool=False) -> outputs: float32
    is tf.quantization.fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range)

FakeQuantWithMinMaxVarsGradient(gradients: float32, inputs: float32, min: float32, max: float32,
    num_bits: int=8, narrow_range: bool=False) -> backprops_wrt_input: float32,
    backprop_wrt_min: float32, backprop_wrt_max: float32
    is tf.quantization.fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max,
    num_bits, narrow_range)

FakeQuantWithMinMaxVarsPerChannel(inputs: float32, min: float32, max: float32, num_bits: int=8,
    narrow_range: bool=False) -> outputs: float32
    is tf.quantization.fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits,
    narrow_range)

FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float32, inputs: float32, min: float32,
    max: float32, num_bits: int=8, narrow_range: bool=False) -> backprops_wrt_input: float32,
    backprop_wrt_min: float32, backprop_wrt_max: float32
    is tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(gradients, inputs, min,
    max, num_bits, narrow_range)

QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T, signed_input: bool=True, num_bits:
    int=8, range_given: bool=False, round_mode: string='HALF_TO_EVEN', narrow_range: bool=False,
    axis: int=-1) -> output: T
    where T: floating
    is tf.quantization.quantize_and_dequantize(input, input_min, input_max, signed_input,
    num_bits, range_given, round_mode, narrow_range=narrow_range, axis=axis)

QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32, signed_input:
    bool=True, range_given: bool=True, narrow_range: bool=False, axis: int=-1) -> output: T
    where T: floating
    is tf.quantization.quantize_and_dequantize(input, input_min, input_max, signed_input,
    int(num_bits), range_given, narrow_range=narrow_range, axis=axis)

QuantizeAndDequantizeV4(input: T, input_min: T, input_max: T, signed_input: bool=True, num_bits:
    int=8, range_given: bool=False, round_mode: string='HALF_TO_EVEN', narrow_range: bool=False,
    axis: int=-1) -> output: T
    where T: floating
    is tf.quantization.quantize_and_dequantize_v2(input, input_min, input_max, signed_input,
    num_bits, range_given, round_mode, narrow_range=narrow_range, axis=axis)
"""
