"""gradtape: TensorFlow 2's eager world as a small library on NumPy. Use it as `import gradtape as tf`."""

# Tape and gradients
from gradtape.core.enums import UnconnectedGradients as UnconnectedGradients

from gradtape.tape.custom import custom_gradient as custom_gradient
from gradtape.tape.custom import grad_pass_through as grad_pass_through
from gradtape.tape.custom import recompute_grad as recompute_grad
from gradtape.tf import autodiff as autodiff
from gradtape.tf import test as test
from gradtape.tf.gradients import RegisterGradient as RegisterGradient
from gradtape.tf.gradients import gradients as gradients
from gradtape.tf.gradients import hessians as hessians
from gradtape.tf.gradients import no_gradient as no_gradient
from gradtape.tf.gradients import stop_gradient as stop_gradient

# Control flow
from gradtape.tf.control import case as case
from gradtape.tf.control import cond as cond
from gradtape.tf.control import foldl as foldl
from gradtape.tf.control import foldr as foldr
from gradtape.tf.control import map_fn as map_fn
from gradtape.tf.control import scan as scan
from gradtape.tf.control import switch_case as switch_case
from gradtape.tf.control import vectorized_map as vectorized_map
from gradtape.tf.control import while_loop as while_loop
from gradtape.tf.tensor_array import TensorArray as TensorArray

# Types
from gradtape.core.shapes import TensorShape as TensorShape
from gradtape.core.spec import TensorSpec as TensorSpec
from gradtape.core.spec import TypeSpec as TypeSpec
from gradtape.core.tensor import Tensor as Tensor
from gradtape.state.variable import Variable as Variable
from gradtape.tape.gradient_tape import GradientTape as GradientTape
from gradtape.tape.indexed_slices import IndexedSlices as IndexedSlices

from gradtape.staging.function import function as function
from gradtape.pipeline.optional import OptionalSpec as OptionalSpec

# Namespaces
from gradtape.tf import data as data
from gradtape.tf import random as random
from gradtape.tf import math as math

# Elementwise functions, reductions, casts and clipping
from gradtape.tf import bitwise as bitwise
from gradtape.tf import operators as _operators  # hands Tensor its operators
from gradtape.tf.casting import cast as cast
from gradtape.tf.casting import complex as complex
from gradtape.tf.casting import saturate_cast as saturate_cast
from gradtape.tf.clip import clip_by_global_norm as clip_by_global_norm
from gradtape.tf.clip import clip_by_norm as clip_by_norm
from gradtape.tf.clip import clip_by_value as clip_by_value
from gradtape.tf.cumulative import cumsum as cumsum
from gradtape.tf.elementwise import abs as abs
from gradtape.tf.elementwise import acos as acos
from gradtape.tf.elementwise import acosh as acosh
from gradtape.tf.elementwise import add as add
from gradtape.tf.elementwise import asin as asin
from gradtape.tf.elementwise import asinh as asinh
from gradtape.tf.elementwise import atan as atan
from gradtape.tf.elementwise import atan2 as atan2
from gradtape.tf.elementwise import atanh as atanh
from gradtape.tf.elementwise import cos as cos
from gradtape.tf.elementwise import cosh as cosh
from gradtape.tf.elementwise import divide as divide
from gradtape.tf.elementwise import equal as equal
from gradtape.tf.elementwise import exp as exp
from gradtape.tf.elementwise import floor as floor
from gradtape.tf.elementwise import greater as greater
from gradtape.tf.elementwise import greater_equal as greater_equal
from gradtape.tf.elementwise import less as less
from gradtape.tf.elementwise import less_equal as less_equal
from gradtape.tf.elementwise import logical_and as logical_and
from gradtape.tf.elementwise import logical_not as logical_not
from gradtape.tf.elementwise import logical_or as logical_or
from gradtape.tf.elementwise import maximum as maximum
from gradtape.tf.elementwise import minimum as minimum
from gradtape.tf.elementwise import multiply as multiply
from gradtape.tf.elementwise import negative as negative
from gradtape.tf.elementwise import not_equal as not_equal
from gradtape.tf.elementwise import pow as pow
from gradtape.tf.elementwise import realdiv as realdiv
from gradtape.tf.elementwise import round as round
from gradtape.tf.elementwise import sigmoid as sigmoid
from gradtape.tf.elementwise import sign as sign
from gradtape.tf.elementwise import sin as sin
from gradtape.tf.elementwise import sinh as sinh
from gradtape.tf.elementwise import sqrt as sqrt
from gradtape.tf.elementwise import square as square
from gradtape.tf.elementwise import subtract as subtract
from gradtape.tf.elementwise import tan as tan
from gradtape.tf.elementwise import tanh as tanh
from gradtape.tf.elementwise import truediv as truediv
from gradtape.tf.elementwise import truncatediv as truncatediv
from gradtape.tf.elementwise import truncatemod as truncatemod
from gradtape.tf.reduction import argmax as argmax
from gradtape.tf.reduction import argmin as argmin
from gradtape.tf.reduction import reduce_all as reduce_all
from gradtape.tf.reduction import reduce_any as reduce_any
from gradtape.tf.reduction import reduce_logsumexp as reduce_logsumexp
from gradtape.tf.reduction import reduce_max as reduce_max
from gradtape.tf.reduction import reduce_mean as reduce_mean
from gradtape.tf.reduction import reduce_min as reduce_min
from gradtape.tf.reduction import reduce_prod as reduce_prod
from gradtape.tf.reduction import reduce_sum as reduce_sum
from gradtape.tf.sums import add_n as add_n
from gradtape.tf.sums import scalar_mul as scalar_mul

# Modules, scopes, conversion, printing and assertions
from gradtape.core.enums import VariableAggregation as VariableAggregation
from gradtape.core.enums import VariableSynchronization as VariableSynchronization
from gradtape.state.module import Module as Module
from gradtape.tf import config as config
from gradtape.tf import debugging as debugging
from gradtape.tf import dtypes as dtypes
from gradtape.tf import errors as errors
from gradtape.tf import experimental as experimental
from gradtape.tf import nest as nest
from gradtape.tf import strings as strings
from gradtape.tf import version as version
from gradtape.tf.debugging import Assert as Assert
from gradtape.tf.debugging import assert_equal as assert_equal
from gradtape.tf.debugging import assert_greater as assert_greater
from gradtape.tf.debugging import assert_less as assert_less
from gradtape.tf.debugging import assert_rank as assert_rank
from gradtape.tf.dtypes import DType as DType
from gradtape.tf.dtypes import as_dtype as as_dtype
from gradtape.tf.dtypes import bfloat16 as bfloat16
from gradtape.tf.dtypes import bool as bool
from gradtape.tf.dtypes import complex64 as complex64
from gradtape.tf.dtypes import complex128 as complex128
from gradtape.tf.dtypes import double as double
from gradtape.tf.dtypes import float16 as float16
from gradtape.tf.dtypes import float32 as float32
from gradtape.tf.dtypes import float64 as float64
from gradtape.tf.dtypes import half as half
from gradtape.tf.dtypes import int8 as int8
from gradtape.tf.dtypes import int16 as int16
from gradtape.tf.dtypes import int32 as int32
from gradtape.tf.dtypes import int64 as int64
from gradtape.tf.dtypes import qint8 as qint8
from gradtape.tf.dtypes import qint16 as qint16
from gradtape.tf.dtypes import qint32 as qint32
from gradtape.tf.dtypes import quint8 as quint8
from gradtape.tf.dtypes import quint16 as quint16
from gradtape.tf.dtypes import resource as resource
from gradtape.tf.dtypes import string as string
from gradtape.tf.dtypes import uint8 as uint8
from gradtape.tf.dtypes import uint16 as uint16
from gradtape.tf.dtypes import uint32 as uint32
from gradtape.tf.dtypes import uint64 as uint64
from gradtape.tf.dtypes import variant as variant
from gradtape.tf.framework import control_dependencies as control_dependencies
from gradtape.tf.framework import device as device
from gradtape.tf.framework import executing_eagerly as executing_eagerly
from gradtape.tf.framework import get_static_value as get_static_value
from gradtape.tf.framework import group as group
from gradtape.tf.framework import init_scope as init_scope
from gradtape.tf.framework import inside_function as inside_function
from gradtape.tf.framework import name_scope as name_scope
from gradtape.tf.framework import no_op as no_op
from gradtape.tf.framework import register_tensor_conversion_function as register_tensor_conversion_function
from gradtape.tf.framework import timestamp as timestamp
from gradtape.tf.framework import type_spec_from_value as type_spec_from_value
from gradtape.tf.output import print as print
from gradtape.tf.strings import as_string as as_string

# Arrays, lookups, linear algebra and neural networks
from gradtape.tf import linalg as linalg
from gradtape.tf import nn as nn
from gradtape.tf import signal as signal
from gradtape.tf.array import bitcast as bitcast
from gradtape.tf.array import broadcast_dynamic_shape as broadcast_dynamic_shape
from gradtape.tf.array import broadcast_static_shape as broadcast_static_shape
from gradtape.tf.array import broadcast_to as broadcast_to
from gradtape.tf.array import concat as concat
from gradtape.tf.array import constant as constant
from gradtape.tf.array import convert_to_tensor as convert_to_tensor
from gradtape.tf.array import ensure_shape as ensure_shape
from gradtape.tf.array import expand_dims as expand_dims
from gradtape.tf.array import eye as eye
from gradtape.tf.array import fill as fill
from gradtape.tf.array import identity as identity
from gradtape.tf.array import identity_n as identity_n
from gradtape.tf.array import is_tensor as is_tensor
from gradtape.tf.array import linspace as linspace
from gradtape.tf.array import meshgrid as meshgrid
from gradtape.tf.array import ones as ones
from gradtape.tf.array import ones_like as ones_like
from gradtape.tf.array import pad as pad
from gradtape.tf.array import range as range
from gradtape.tf.array import rank as rank
from gradtape.tf.array import repeat as repeat
from gradtape.tf.array import reshape as reshape
from gradtape.tf.array import reverse as reverse
from gradtape.tf.array import roll as roll
from gradtape.tf.array import shape as shape
from gradtape.tf.array import shape_n as shape_n
from gradtape.tf.array import size as size
from gradtape.tf.array import split as split
from gradtape.tf.array import squeeze as squeeze
from gradtape.tf.array import stack as stack
from gradtape.tf.array import tile as tile
from gradtape.tf.array import transpose as transpose
from gradtape.tf.array import unstack as unstack
from gradtape.tf.array import zeros as zeros
from gradtape.tf.array import zeros_like as zeros_like
from gradtape.tf.lookup import boolean_mask as boolean_mask
from gradtape.tf.lookup import gather as gather
from gradtape.tf.lookup import gather_nd as gather_nd
from gradtape.tf.lookup import one_hot as one_hot
from gradtape.tf.lookup import reverse_sequence as reverse_sequence
from gradtape.tf.lookup import scatter_nd as scatter_nd
from gradtape.tf.lookup import sequence_mask as sequence_mask
from gradtape.tf.lookup import slice as slice
from gradtape.tf.lookup import strided_slice as strided_slice
from gradtape.tf.lookup import tensor_scatter_nd_add as tensor_scatter_nd_add
from gradtape.tf.lookup import tensor_scatter_nd_max as tensor_scatter_nd_max
from gradtape.tf.lookup import tensor_scatter_nd_min as tensor_scatter_nd_min
from gradtape.tf.lookup import tensor_scatter_nd_sub as tensor_scatter_nd_sub
from gradtape.tf.lookup import tensor_scatter_nd_update as tensor_scatter_nd_update
from gradtape.tf.lookup import unravel_index as unravel_index
from gradtape.tf.lookup import where as where
from gradtape.tf.convolution import batch_to_space as batch_to_space
from gradtape.tf.convolution import extract_volume_patches as extract_volume_patches
from gradtape.tf.convolution import space_to_batch as space_to_batch
from gradtape.tf.order import argsort as argsort
from gradtape.tf.order import searchsorted as searchsorted
from gradtape.tf.order import sort as sort
from gradtape.tf.order import unique as unique
from gradtape.tf.order import unique_with_counts as unique_with_counts
from gradtape.tf.linalg import einsum as einsum
from gradtape.tf.linalg import matmul as matmul
from gradtape.tf.linalg import norm as norm
from gradtape.tf.linalg import tensordot as tensordot

newaxis = None
__version__ = "2.21.0"


def __getattr__(name: str) -> object:
    """Keras, and the functions that bring it here, on first use."""
    if name in ("install", "uninstall"):
        from gradtape.dropin import install

        return getattr(install, name)
    if name == "keras":
        from gradtape.dropin.install import keras_module

        return keras_module()
    raise AttributeError(f"module 'gradtape' has no attribute {name!r}: it does not have tf.{name}.")
