"""Tables of the signatures and moved names of tf.compat.v1, and the adapter that applies them."""

from __future__ import annotations

import functools
import sys
from typing import Any

REDUCE_SIGNATURE = "input_tensor axis keepdims name reduction_indices>axis keep_dims>keepdims"
SOFTMAX_SIGNATURE = "logits axis name dim>axis"
POOL_SIGNATURE = "value>input ksize strides padding data_format name input"
ASSERT_SIGNATURE = "x y data> summarize message name"
CROSS_ENTROPY_SIGNATURE = "_sentinel> labels logits name"

# `old>new` is a renamed parameter; `old>` is a parameter that is ignored.
V1_SIGNATURES = {
    **{
        f"reduce_{kind}": REDUCE_SIGNATURE
        for kind in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
    },
    **{f"assert_{kind}": ASSERT_SIGNATURE for kind in ("equal", "greater", "less")},
    "argmax": "input axis name dimension>axis output_type",
    "argmin": "input axis name dimension>axis output_type",
    "assert_rank": "x rank data> summarize> message name",
    "boolean_mask": "tensor mask name axis",
    "cond": "pred true_fn false_fn strict> name fn1>true_fn fn2>false_fn",
    "constant": "value dtype shape name verify_shape>",
    "constant_initializer": "value dtype> verify_shape>",
    "convert_to_tensor": "value dtype name preferred_dtype>dtype_hint dtype_hint",
    "device": "device_name_or_function>device_name",
    "expand_dims": "input axis name dim>axis",
    "gather": "params indices validate_indices name axis batch_dims",
    "gather_nd": "params indices name batch_dims bad_indices_policy",
    "gradients": "ys xs grad_ys name colocate_gradients_with_ops> gate_gradients "
    "aggregation_method stop_gradients unconnected_gradients",
    "hessians": "ys xs name colocate_gradients_with_ops> gate_gradients aggregation_method",
    "name_scope": "name default_name> values>",
    "norm": "tensor ord axis keepdims name keep_dims>keepdims",
    "linalg.norm": "tensor ord axis keepdims name keep_dims>keepdims",
    "ones_like": "tensor>input dtype name optimize>",
    "zeros_like": "tensor>input dtype name optimize>",
    "ones_initializer": "dtype>",
    "zeros_initializer": "dtype>",
    "pad": "tensor paddings mode name constant_values",
    "shape": "input name out_type",
    "size": "input name out_type",
    "squeeze": "input axis name squeeze_dims>axis",
    "while_loop": "cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory "
    "name maximum_iterations return_same_structure>",
    "math.bincount": "arr weights minlength maxlength dtype",
    "math.confusion_matrix": "labels predictions num_classes dtype name weights",
    "math.count_nonzero": "input_tensor>input axis keepdims dtype name reduction_indices>axis "
    "keep_dims>keepdims input",
    "math.in_top_k": "predictions targets k name",
    "nn.in_top_k": "predictions targets k name",
    "math.softmax": SOFTMAX_SIGNATURE,
    "math.log_softmax": SOFTMAX_SIGNATURE,
    "nn.softmax": SOFTMAX_SIGNATURE,
    "nn.log_softmax": SOFTMAX_SIGNATURE,
    "nn.avg_pool": POOL_SIGNATURE,
    "nn.avg_pool2d": POOL_SIGNATURE,
    "nn.max_pool": POOL_SIGNATURE,
    "nn.conv1d": "value>input filters stride padding use_cudnn_on_gpu> data_format name input "
    "dilations",
    "nn.conv2d": "input filter>filters strides padding use_cudnn_on_gpu> data_format dilations "
    "name filters",
    "nn.conv2d_transpose": "value>input filter>filters output_shape strides padding data_format "
    "name input filters dilations",
    "nn.conv3d": "input filter>filters strides padding data_format dilations name filters",
    "nn.crelu": "features name axis",
    "nn.depth_to_space": "input block_size name data_format",
    "nn.space_to_depth": "input block_size name data_format",
    "nn.depthwise_conv2d": "input filter strides padding rate>dilations name data_format dilations",
    "nn.embedding_lookup": "params ids partition_strategy> name validate_indices> max_norm",
    "nn.moments": "x axes shift name keep_dims>keepdims keepdims",
    "nn.sigmoid_cross_entropy_with_logits": CROSS_ENTROPY_SIGNATURE,
    "nn.sparse_softmax_cross_entropy_with_logits": CROSS_ENTROPY_SIGNATURE,
    "nn.softmax_cross_entropy_with_logits_v2": "labels logits axis name dim>axis",
    "nn.weighted_cross_entropy_with_logits": "labels logits pos_weight name targets>labels",
}

# Names that moved. Names that are not listed are looked up in `tf` and in the namespaces
# `ROOT_NAMESPACES`.
MOVED_NAMES = {
    "arg_max": "argmax",
    "arg_min": "argmin",
    "batch_to_space_nd": "batch_to_space",
    "ceil": "math.ceil",
    "check_numerics": "debugging.check_numerics",
    "cross": "linalg.cross",
    "decode_raw": "io.decode_raw",
    "div_no_nan": "math.divide_no_nan",
    "extract_image_patches": "image.extract_patches",
    "is_finite": "math.is_finite",
    "is_inf": "math.is_inf",
    "is_nan": "math.is_nan",
    "lin_space": "linspace",
    "log_sigmoid": "math.log_sigmoid",
    "matrix_band_part": "linalg.band_part",
    "matrix_determinant": "linalg.det",
    "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part",
    "matrix_inverse": "linalg.inv",
    "matrix_set_diag": "linalg.set_diag",
    "matrix_solve": "linalg.solve",
    "matrix_solve_ls": "linalg.lstsq",
    "matrix_transpose": "linalg.matrix_transpose",
    "matrix_triangular_solve": "linalg.triangular_solve",
    "mod": "math.floormod",
    "nn.softmax_cross_entropy_with_logits_v2": "nn.softmax_cross_entropy_with_logits",
    "parse_tensor": "io.parse_tensor",
    "py_func": "numpy_function",
    "random_crop": "image.random_crop",
    "random_gamma": "random.gamma",
    "random_normal": "random.normal",
    "random_shuffle": "random.shuffle",
    "random_uniform": "random.uniform",
    "random.set_random_seed": "random.set_seed",
    "read_file": "io.read_file",
    "regex_replace": "strings.regex_replace",
    "reverse_v2": "reverse",
    "self_adjoint_eig": "linalg.eigh",
    "self_adjoint_eigvals": "linalg.eigvalsh",
    "serialize_tensor": "io.serialize_tensor",
    "set_random_seed": "random.set_seed",
    "space_to_depth": "nn.space_to_depth",
    "depth_to_space": "nn.depth_to_space",
    "string_join": "strings.join",
    "string_strip": "strings.strip",
    "string_to_number": "strings.to_number",
    "tensor_scatter_add": "tensor_scatter_nd_add",
    "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update",
    "truncated_normal": "random.truncated_normal",
    "where_v2": "where",
    "write_file": "io.write_file",
    "FixedLenFeature": "io.FixedLenFeature",
    "FixedLenSequenceFeature": "io.FixedLenSequenceFeature",
    "SparseFeature": "io.SparseFeature",
    "VarLenFeature": "io.VarLenFeature",
    "NotDifferentiable": "no_gradient",
    "NoGradient": "no_gradient",
    "image.resize_image_with_crop_or_pad": "image.resize_with_crop_or_pad",
}
# Namespaces that now have names which were at the root in TensorFlow 1.
ROOT_NAMESPACES = ("math", "linalg", "signal", "debugging")

# Same names with other parameters and no adapter: calling TensorFlow 2's could silently compute
# something else.
INCOMPATIBLE_LIST = """
    batch_to_space map_fn image.crop_and_resize image.draw_bounding_boxes image.extract_glimpse
    image.resize image.sample_distorted_bounding_box io.decode_csv io.decode_raw io.parse_example
    io.parse_single_example nn.batch_norm_with_global_normalization nn.conv3d_transpose
    nn.convolution nn.ctc_loss nn.dilation2d nn.embedding_lookup_sparse nn.erosion2d
    nn.fractional_avg_pool nn.fractional_max_pool nn.max_pool_with_argmax nn.nce_loss nn.pool
    nn.ctc_beam_search_decoder nn.sampled_softmax_loss nn.separable_conv2d
"""
INCOMPATIBLE_NAMES = frozenset(INCOMPATIBLE_LIST.split())


def resolve_name(path: str) -> Any:
    """Resolve a dotted name in gradtape; AttributeError if there is none."""
    found: Any = sys.modules["gradtape"]
    for name in path.split("."):
        found = getattr(found, name)
    return found


def adapt_signature(name: str, function: Any, signature: str) -> Any:
    """Wrap a function to take TensorFlow 1's signature; arguments that are None are dropped."""
    parameters = [one.partition(">") for one in signature.split()]
    order = [old for old, _, _ in parameters]
    renamed = {old: new if arrow else old for old, arrow, new in parameters}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(order):
            raise TypeError(
                f"tf.compat.v1.{name}() takes at most {len(order)} arguments. Received {len(args)}."
            )
        given = dict(zip(order, args, strict=False))
        for key, value in kwargs.items():
            if key not in renamed or key in given:
                raise TypeError(f"tf.compat.v1.{name}() got an unexpected argument {key!r}.")
            given[key] = value
        passed: dict[str, Any] = {}
        for key, value in given.items():
            if value is not None and renamed[key]:
                passed[renamed[key]] = value
        return function(**passed)

    return call
