"""tf.experimental.numpy: NumPy's functions on tensors, with gradients.

Numbers and lists become int64 and float64. Operands of different dtypes are promoted as in NumPy;
a Python number takes the dtype of the tensor it is combined with.
"""

from math import e as e
from math import inf as inf
from math import pi as pi

from numpy import bool_ as bool_
from numpy import bytes_ as bytes_
from numpy import complex64 as complex64
from numpy import complex128 as complex128
from numpy import finfo as _finfo
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import iinfo as _iinfo
from numpy import inexact as inexact
from numpy import int8 as int8
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int_ as int_
from numpy import issubdtype as issubdtype
from numpy import object_ as object_
from numpy import str_ as str_
from numpy import uint8 as uint8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64

from gradtape.core.dtypes import as_dtype as _as_dtype
from gradtape.core.errors import public as _public
from gradtape.core.tensor import Tensor as _Tensor
from gradtape.tf.numpy import random as random
from gradtape.tf.numpy.array import arange as arange
from gradtape.tf.numpy.array import array as array
from gradtape.tf.numpy.array import asanyarray as asanyarray
from gradtape.tf.numpy.array import asarray as asarray
from gradtape.tf.numpy.array import ascontiguousarray as ascontiguousarray
from gradtape.tf.numpy.array import atleast_1d as atleast_1d
from gradtape.tf.numpy.array import atleast_2d as atleast_2d
from gradtape.tf.numpy.array import atleast_3d as atleast_3d
from gradtape.tf.numpy.array import broadcast_arrays as broadcast_arrays
from gradtape.tf.numpy.array import broadcast_to as broadcast_to
from gradtape.tf.numpy.array import copy as copy
from gradtape.tf.numpy.array import empty as empty
from gradtape.tf.numpy.array import empty_like as empty_like
from gradtape.tf.numpy.array import expand_dims as expand_dims
from gradtape.tf.numpy.array import eye as eye
from gradtape.tf.numpy.array import flatten as flatten
from gradtape.tf.numpy.array import flip as flip
from gradtape.tf.numpy.array import fliplr as fliplr
from gradtape.tf.numpy.array import flipud as flipud
from gradtape.tf.numpy.array import full as full
from gradtape.tf.numpy.array import full_like as full_like
from gradtape.tf.numpy.array import geomspace as geomspace
from gradtape.tf.numpy.array import identity as identity
from gradtape.tf.numpy.array import linspace as linspace
from gradtape.tf.numpy.array import logspace as logspace
from gradtape.tf.numpy.array import moveaxis as moveaxis
from gradtape.tf.numpy.array import ndim as ndim
from gradtape.tf.numpy.array import ones as ones
from gradtape.tf.numpy.array import ones_like as ones_like
from gradtape.tf.numpy.array import pad as pad
from gradtape.tf.numpy.array import ravel as ravel
from gradtape.tf.numpy.array import repeat as repeat
from gradtape.tf.numpy.array import reshape as reshape
from gradtape.tf.numpy.array import roll as roll
from gradtape.tf.numpy.array import rot90 as rot90
from gradtape.tf.numpy.array import shape as shape
from gradtape.tf.numpy.array import size as size
from gradtape.tf.numpy.array import squeeze as squeeze
from gradtape.tf.numpy.array import swapaxes as swapaxes
from gradtape.tf.numpy.array import tile as tile
from gradtape.tf.numpy.array import transpose as transpose
from gradtape.tf.numpy.array import tri as tri
from gradtape.tf.numpy.array import zeros as zeros
from gradtape.tf.numpy.array import zeros_like as zeros_like
from gradtape.tf.numpy.elementwise import abs as abs
from gradtape.tf.numpy.elementwise import absolute as absolute
from gradtape.tf.numpy.elementwise import add as add
from gradtape.tf.numpy.elementwise import allclose as allclose
from gradtape.tf.numpy.elementwise import angle as angle
from gradtape.tf.numpy.elementwise import arccos as arccos
from gradtape.tf.numpy.elementwise import arccosh as arccosh
from gradtape.tf.numpy.elementwise import arcsin as arcsin
from gradtape.tf.numpy.elementwise import arcsinh as arcsinh
from gradtape.tf.numpy.elementwise import arctan as arctan
from gradtape.tf.numpy.elementwise import arctan2 as arctan2
from gradtape.tf.numpy.elementwise import arctanh as arctanh
from gradtape.tf.numpy.elementwise import around as around
from gradtape.tf.numpy.elementwise import array_equal as array_equal
from gradtape.tf.numpy.elementwise import bitwise_and as bitwise_and
from gradtape.tf.numpy.elementwise import bitwise_not as bitwise_not
from gradtape.tf.numpy.elementwise import bitwise_or as bitwise_or
from gradtape.tf.numpy.elementwise import bitwise_xor as bitwise_xor
from gradtape.tf.numpy.elementwise import cbrt as cbrt
from gradtape.tf.numpy.elementwise import ceil as ceil
from gradtape.tf.numpy.elementwise import clip as clip
from gradtape.tf.numpy.elementwise import conj as conj
from gradtape.tf.numpy.elementwise import conjugate as conjugate
from gradtape.tf.numpy.elementwise import cos as cos
from gradtape.tf.numpy.elementwise import cosh as cosh
from gradtape.tf.numpy.elementwise import deg2rad as deg2rad
from gradtape.tf.numpy.elementwise import divide as divide
from gradtape.tf.numpy.elementwise import divmod as divmod
from gradtape.tf.numpy.elementwise import equal as equal
from gradtape.tf.numpy.elementwise import exp as exp
from gradtape.tf.numpy.elementwise import exp2 as exp2
from gradtape.tf.numpy.elementwise import expm1 as expm1
from gradtape.tf.numpy.elementwise import fabs as fabs
from gradtape.tf.numpy.elementwise import fix as fix
from gradtape.tf.numpy.elementwise import float_power as float_power
from gradtape.tf.numpy.elementwise import floor as floor
from gradtape.tf.numpy.elementwise import floor_divide as floor_divide
from gradtape.tf.numpy.elementwise import gcd as gcd
from gradtape.tf.numpy.elementwise import greater as greater
from gradtape.tf.numpy.elementwise import greater_equal as greater_equal
from gradtape.tf.numpy.elementwise import heaviside as heaviside
from gradtape.tf.numpy.elementwise import hypot as hypot
from gradtape.tf.numpy.elementwise import imag as imag
from gradtape.tf.numpy.elementwise import isclose as isclose
from gradtape.tf.numpy.elementwise import isfinite as isfinite
from gradtape.tf.numpy.elementwise import isinf as isinf
from gradtape.tf.numpy.elementwise import isnan as isnan
from gradtape.tf.numpy.elementwise import isneginf as isneginf
from gradtape.tf.numpy.elementwise import isposinf as isposinf
from gradtape.tf.numpy.elementwise import lcm as lcm
from gradtape.tf.numpy.elementwise import less as less
from gradtape.tf.numpy.elementwise import less_equal as less_equal
from gradtape.tf.numpy.elementwise import log as log
from gradtape.tf.numpy.elementwise import log1p as log1p
from gradtape.tf.numpy.elementwise import log2 as log2
from gradtape.tf.numpy.elementwise import log10 as log10
from gradtape.tf.numpy.elementwise import logaddexp as logaddexp
from gradtape.tf.numpy.elementwise import logaddexp2 as logaddexp2
from gradtape.tf.numpy.elementwise import logical_and as logical_and
from gradtape.tf.numpy.elementwise import logical_not as logical_not
from gradtape.tf.numpy.elementwise import logical_or as logical_or
from gradtape.tf.numpy.elementwise import logical_xor as logical_xor
from gradtape.tf.numpy.elementwise import maximum as maximum
from gradtape.tf.numpy.elementwise import minimum as minimum
from gradtape.tf.numpy.elementwise import mod as mod
from gradtape.tf.numpy.elementwise import multiply as multiply
from gradtape.tf.numpy.elementwise import negative as negative
from gradtape.tf.numpy.elementwise import nextafter as nextafter
from gradtape.tf.numpy.elementwise import not_equal as not_equal
from gradtape.tf.numpy.elementwise import positive as positive
from gradtape.tf.numpy.elementwise import power as power
from gradtape.tf.numpy.elementwise import rad2deg as rad2deg
from gradtape.tf.numpy.elementwise import real as real
from gradtape.tf.numpy.elementwise import reciprocal as reciprocal
from gradtape.tf.numpy.elementwise import remainder as remainder
from gradtape.tf.numpy.elementwise import round as round
from gradtape.tf.numpy.elementwise import sign as sign
from gradtape.tf.numpy.elementwise import signbit as signbit
from gradtape.tf.numpy.elementwise import sin as sin
from gradtape.tf.numpy.elementwise import sinc as sinc
from gradtape.tf.numpy.elementwise import sinh as sinh
from gradtape.tf.numpy.elementwise import sqrt as sqrt
from gradtape.tf.numpy.elementwise import square as square
from gradtape.tf.numpy.elementwise import subtract as subtract
from gradtape.tf.numpy.elementwise import tan as tan
from gradtape.tf.numpy.elementwise import tanh as tanh
from gradtape.tf.numpy.elementwise import true_divide as true_divide
from gradtape.tf.numpy.index import compress as compress
from gradtape.tf.numpy.index import diag as diag
from gradtape.tf.numpy.index import diag_indices as diag_indices
from gradtape.tf.numpy.index import diagflat as diagflat
from gradtape.tf.numpy.index import diagonal as diagonal
from gradtape.tf.numpy.index import diff as diff
from gradtape.tf.numpy.index import iscomplex as iscomplex
from gradtape.tf.numpy.index import iscomplexobj as iscomplexobj
from gradtape.tf.numpy.index import isreal as isreal
from gradtape.tf.numpy.index import isrealobj as isrealobj
from gradtape.tf.numpy.index import isscalar as isscalar
from gradtape.tf.numpy.index import ix_ as ix_
from gradtape.tf.numpy.index import meshgrid as meshgrid
from gradtape.tf.numpy.index import nonzero as nonzero
from gradtape.tf.numpy.index import select as select
from gradtape.tf.numpy.index import take as take
from gradtape.tf.numpy.index import take_along_axis as take_along_axis
from gradtape.tf.numpy.index import tril as tril
from gradtape.tf.numpy.index import triu as triu
from gradtape.tf.numpy.index import vander as vander
from gradtape.tf.numpy.index import where as where
from gradtape.tf.numpy.join_split import append as append
from gradtape.tf.numpy.join_split import concatenate as concatenate
from gradtape.tf.numpy.join_split import dsplit as dsplit
from gradtape.tf.numpy.join_split import dstack as dstack
from gradtape.tf.numpy.join_split import hsplit as hsplit
from gradtape.tf.numpy.join_split import hstack as hstack
from gradtape.tf.numpy.join_split import split as split
from gradtape.tf.numpy.join_split import stack as stack
from gradtape.tf.numpy.join_split import vsplit as vsplit
from gradtape.tf.numpy.join_split import vstack as vstack
from gradtape.tf.numpy.numpy_behavior import (
    experimental_enable_numpy_behavior as experimental_enable_numpy_behavior,
)
from gradtape.tf.numpy.product import cross as cross
from gradtape.tf.numpy.product import dot as dot
from gradtape.tf.numpy.product import einsum as einsum
from gradtape.tf.numpy.product import inner as inner
from gradtape.tf.numpy.product import kron as kron
from gradtape.tf.numpy.product import matmul as matmul
from gradtape.tf.numpy.product import outer as outer
from gradtape.tf.numpy.product import polyval as polyval
from gradtape.tf.numpy.product import tensordot as tensordot
from gradtape.tf.numpy.product import trace as trace
from gradtape.tf.numpy.product import vdot as vdot
from gradtape.tf.numpy.promotion import promote_types as promote_types
from gradtape.tf.numpy.promotion import result_type as result_type
from gradtape.tf.numpy.reduce import all as all
from gradtape.tf.numpy.reduce import amax as amax
from gradtape.tf.numpy.reduce import amin as amin
from gradtape.tf.numpy.reduce import any as any
from gradtape.tf.numpy.reduce import argmax as argmax
from gradtape.tf.numpy.reduce import argmin as argmin
from gradtape.tf.numpy.reduce import argsort as argsort
from gradtape.tf.numpy.reduce import average as average
from gradtape.tf.numpy.reduce import count_nonzero as count_nonzero
from gradtape.tf.numpy.reduce import cumprod as cumprod
from gradtape.tf.numpy.reduce import cumsum as cumsum
from gradtape.tf.numpy.reduce import max as max
from gradtape.tf.numpy.reduce import mean as mean
from gradtape.tf.numpy.reduce import min as min
from gradtape.tf.numpy.reduce import nanmean as nanmean
from gradtape.tf.numpy.reduce import nanprod as nanprod
from gradtape.tf.numpy.reduce import nansum as nansum
from gradtape.tf.numpy.reduce import prod as prod
from gradtape.tf.numpy.reduce import ptp as ptp
from gradtape.tf.numpy.reduce import sort as sort
from gradtape.tf.numpy.reduce import std as std
from gradtape.tf.numpy.reduce import sum as sum
from gradtape.tf.numpy.reduce import var as var

ndarray = _Tensor
complex_, float_, string_, unicode_ = complex128, float64, bytes_, str_
newaxis = None


@_public
def finfo(dtype: object) -> object:
    """Limits of a float dtype."""
    return _finfo(_as_dtype(dtype).as_numpy_dtype)


@_public
def iinfo(int_type: object) -> object:
    """Limits of an integer dtype."""
    return _iinfo(_as_dtype(int_type).as_numpy_dtype)
