"""tf.quantization: rounding to the steps of small integer types, with gradients."""

from gradtape.tf.quantization.fake_quant import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
)
from gradtape.tf.quantization.fake_quant import (
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
)
from gradtape.tf.quantization.fake_quant import (
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
)
from gradtape.tf.quantization.fake_quant import (
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
)
from gradtape.tf.quantization.fake_quant import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from gradtape.tf.quantization.fake_quant import (
    fake_quant_with_min_max_vars_per_channel_gradient as _per_channel_gradient,
)
from gradtape.tf.quantization.round_trip import quantize_and_dequantize as quantize_and_dequantize
from gradtape.tf.quantization.round_trip import (
    quantize_and_dequantize_v2 as quantize_and_dequantize_v2,
)

fake_quant_with_min_max_vars_per_channel_gradient = _per_channel_gradient
