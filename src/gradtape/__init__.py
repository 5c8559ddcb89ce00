"""TensorFlow 2's eager world as a small library on NumPy: `import gradtape as tf`.

This module lists the public names and the modules that define them. A name is imported on first
use, which keeps `import gradtape` fast. Type checkers read the same list in `__init__.pyi`.
"""

from importlib import import_module as _import_module
from os import environ as _environ
from typing import NoReturn as _NoReturn

from gradtape.core.errors import public as _public
from gradtape.core.malloc import keep_freed_blocks as _keep_freed_blocks

_keep_freed_blocks()
_import_module("gradtape.tf.tensor_operator")  # defines the operators of Tensor and Variable

__version__ = "2.21.0"  # the version of TensorFlow that gradtape follows
newaxis = None

_NAMES_BY_MODULE = {
    "gradtape.core.enums": "UnconnectedGradients VariableAggregation VariableSynchronization",
    "gradtape.core.ragged.tensor": "RaggedTensor",
    "gradtape.core.ragged.spec": "RaggedTensorSpec",
    "gradtape.core.shapes": "TensorShape",
    "gradtape.core.sparse_tensor": "SparseTensor SparseTensorSpec",
    "gradtape.core.spec": "TensorSpec TypeSpec",
    "gradtape.core.tensor": "Tensor",
    "gradtape.pipeline.optional": "OptionalSpec",
    "gradtape.jit.function": "function",
    "gradtape.state.module": "Module",
    "gradtape.state.variable.creator": "variable_creator_scope",
    "gradtape.state.variable.variable": "Variable",
    "gradtape.tf.config.device_spec": "DeviceSpec",
    "gradtape.tape.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "gradtape.tape.gradient_tape": "GradientTape",
    "gradtape.tape.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    "gradtape.tf": "audio compat sets",
    "gradtape.tf.api": """
        autodiff autograph bitwise config data debugging distribute dtypes errors experimental
        image io linalg lookup math nest nn profiler quantization ragged random raw_ops
        saved_model signal sparse strings summary test train types version xla
    """,
    "gradtape.tf.array.shape": """
        broadcast_dynamic_shape broadcast_static_shape ensure_shape identity identity_n
        is_tensor rank shape shape_n size
    """,
    "gradtape.tf.array.reshape": "bitcast broadcast_to expand_dims reshape squeeze transpose",
    "gradtape.tf.array.repeat_roll": "repeat reverse roll tile",
    "gradtape.tf.nn.convolution_gradient": """
        conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2
        required_space_to_batch_paddings
    """,
    "gradtape.tf.math.cast": "cast complex saturate_cast",
    "gradtape.tf.math.clip": "clip_by_global_norm clip_by_norm clip_by_value",
    "gradtape.tf.linalg.einsum": "einsum tensordot",
    "gradtape.tf.control_flow.cond_while": "case cond switch_case while_loop",
    "gradtape.tf.array.creation": """
        constant convert_to_tensor eye fill ones ones_like zeros zeros_like
    """,
    "gradtape.tf.array.range": "linspace range",
    "gradtape.tf.math.top_k": "approx_top_k",
    "gradtape.tf.math.bincount": "histogram_fixed_width histogram_fixed_width_bins",
    "gradtape.tf.math.cumulative": "cumsum",
    "gradtape.tf.debugging.assertion": "Assert assert_equal assert_greater assert_less",
    "gradtape.tf.debugging.shape_assertion": "assert_rank",
    "gradtape.tf.linalg.decomposition": "eig eigvals",
    "gradtape.tf.linalg.matrix_function": "matrix_square_root",
    "gradtape.tf.api.dtypes": """
        DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64
        half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string
        uint16 uint32 uint64 uint8 variant
    """,
    "gradtape.tf.math.elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh cos cosh divide equal exp floor
        greater greater_equal less less_equal logical_and logical_not logical_or maximum
        minimum multiply negative not_equal pow realdiv round sigmoid sign sin sinh sqrt
        square subtract tan tanh truediv truncatediv truncatemod
    """,
    "gradtape.tf.framework": """
        control_dependencies device executing_eagerly get_current_name_scope get_logger
        get_static_value
        group guarantee_const init_scope inside_function is_symbolic_tensor name_scope no_op
        register_tensor_conversion_function timestamp tuple type_spec_from_value
    """,
    "gradtape.tf.gradients": """
        AggregationMethod RegisterGradient gradients hessians no_gradient stop_gradient
    """,
    "gradtape.tf.control_flow.py_function": "numpy_function py_function",
    "gradtape.tf.nn.initializer": """
        constant_initializer ones_initializer random_normal_initializer
        random_uniform_initializer zeros_initializer
    """,
    "gradtape.tf.array.concat_split": "concat meshgrid parallel_stack split stack unstack",
    "gradtape.tf.array.gather": "gather gather_nd reverse_sequence unravel_index",
    "gradtape.tf.array.slice": "slice strided_slice",
    "gradtape.tf.array.pad": "pad",
    "gradtape.tf.tensor_proto": "make_ndarray make_tensor_proto",
    "gradtape.tf.array.mask": "boolean_mask one_hot sequence_mask where",
    "gradtape.tf.linalg.norm": "norm",
    "gradtape.tf.array.sort_unique": "argsort searchsorted sort unique unique_with_counts",
    "gradtape.tf.io.print": "print",
    "gradtape.tf.nn.patch": "extract_volume_patches",
    "gradtape.tf.nn.space_to_batch": "batch_to_space space_to_batch space_to_batch_nd",
    "gradtape.tf.linalg.matmul": "matmul",
    "gradtape.tf.math.reduce": """
        argmax argmin reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
        reduce_min reduce_prod reduce_sum
    """,
    "gradtape.tf.array.scatter": """
        scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min
        tensor_scatter_nd_sub tensor_scatter_nd_update
    """,
    "gradtape.tf.control_flow.map": "map_fn vectorized_map",
    "gradtape.tf.control_flow.fold_scan": "foldl foldr scan",
    "gradtape.tf.api.strings": "as_string",
    "gradtape.tf.strings.edit_distance": "edit_distance",
    "gradtape.tf.strings.fingerprint": "fingerprint",
    "gradtape.tf.array.dynamic_partition": "dynamic_partition dynamic_stitch",
    "gradtape.tf.math.add_n": "add_n scalar_mul",
    "gradtape.tf.array.tensor_array": "TensorArray",
    "gradtape.tf.array.tensor_array_spec": "TensorArraySpec",
    "gradtape.tf.ragged.empty_rows": "ragged_fill_empty_rows ragged_fill_empty_rows_grad",
    "gradtape.tf.raw_ops.sampling_part": "random_index_shuffle",
}

_KERAS_NAMES = ("initializers", "losses", "metrics", "optimizers")
_DROPIN_NAMES = ("install", "uninstall", "load_ipython_extension", "unload_ipython_extension")
_LAZY_NAMES = ("debug", "engine", "func", "interop", *_DROPIN_NAMES[:2], "keras", *_KERAS_NAMES)
_MODULE_OF = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __dir__() -> list[str]:
    """All public names, imported or not; those of Keras only where it is installed."""
    from importlib.util import find_spec

    try:
        absent = () if find_spec("keras") else ("keras", *_KERAS_NAMES)
    except ImportError:  # a finder refuses it
        absent = ("keras", *_KERAS_NAMES)
    return sorted({*globals(), *_MODULE_OF, *_LAZY_NAMES}.difference(absent))


def _raise_missing_name(path: str, name: str) -> _NoReturn:
    """Raise AttributeError for a missing name, with the closest names."""
    text = f"module {path.replace('tf', 'gradtape', 1)!r} has no attribute {name!r}"
    if not name.startswith("_"):
        from gradtape.dropin.missing_symbol import explain_missing_name

        names = _MODULE_OF if path == "tf" else dir(globals()[path.removeprefix("tf.")])
        text += f": {explain_missing_name(path, name, names)}"
    raise AttributeError(text, name=name)


def _find_in_namespace(namespace: str, name: str) -> list[str]:
    """The list `__all__` of a namespace, which `help` asks for; other names are missing."""
    if name != "__all__":
        _raise_missing_name(f"tf.{namespace}", name)
    from gradtape.tf.public_name import list_public_names

    return list_public_names(globals()[namespace])


@_public
def __getattr__(name: str) -> object:
    """Import a name from the module that defines it."""
    home = _MODULE_OF.get(name)
    if home is not None:
        if home in ("gradtape.tf", "gradtape.tf.api"):  # a namespace
            value = _import_module(f"{home}.{name}")
            value.__dict__.setdefault(
                "__getattr__", _public(lambda other: _find_in_namespace(name, other))
            )
        else:
            value = getattr(_import_module(home), name)
        globals()[name] = value
        return value
    if name in ("debug", "func", "interop"):
        return _import_module(f"gradtape.{name}")
    if name == "engine":
        return _import_module("gradtape.compile.engine")
    if name in _DROPIN_NAMES:
        from gradtape.dropin import install

        return getattr(install, name)
    if name == "keras" or name in _KERAS_NAMES:
        from gradtape.dropin.install import keras_module

        return keras_module() if name == "keras" else getattr(keras_module(), name)
    return _raise_missing_name("tf", name)


if _environ.get("GRADTAPE_INSTALL", "0") not in ("", "0"):
    __getattr__("install")()  # type: ignore[operator]

if _environ.get("GRADTAPE_EXPLAIN", "0") not in ("", "0"):
    _import_module("gradtape.debug.explanation.switch").explain_until_exit()
