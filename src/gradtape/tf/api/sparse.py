"""tf.sparse: sparse tensors: conversion, arithmetic and reductions."""

from gradtape.core.sparse_tensor import SparseTensor as SparseTensor
from gradtape.tf.math.segment import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from gradtape.tf.sparse.arithmetic import add as add
from gradtape.tf.sparse.arithmetic import map_values as map_values
from gradtape.tf.sparse.arithmetic import maximum as maximum
from gradtape.tf.sparse.arithmetic import minimum as minimum
from gradtape.tf.sparse.arithmetic import reduce_max as reduce_max
from gradtape.tf.sparse.arithmetic import reduce_sum as reduce_sum
from gradtape.tf.sparse.arithmetic import softmax as softmax
from gradtape.tf.sparse.arithmetic import sparse_dense_matmul as sparse_dense_matmul
from gradtape.tf.sparse.arithmetic import to_indicator as to_indicator
from gradtape.tf.sparse.bincount import bincount as bincount
from gradtape.tf.sparse.conversion import from_dense as from_dense
from gradtape.tf.sparse.conversion import to_dense as to_dense
from gradtape.tf.sparse.cross import cross as cross
from gradtape.tf.sparse.cross import cross_hashed as cross_hashed
from gradtape.tf.sparse.sampled_product import mask as mask
from gradtape.tf.sparse.sampled_product import sampled_addmm as sampled_addmm
from gradtape.tf.sparse.shape import concat as concat
from gradtape.tf.sparse.shape import expand_dims as expand_dims
from gradtape.tf.sparse.shape import eye as eye
from gradtape.tf.sparse.shape import fill_empty_rows as fill_empty_rows
from gradtape.tf.sparse.shape import reorder as reorder
from gradtape.tf.sparse.shape import reset_shape as reset_shape
from gradtape.tf.sparse.shape import reshape as reshape
from gradtape.tf.sparse.shape import retain as retain
from gradtape.tf.sparse.shape import slice as slice
from gradtape.tf.sparse.shape import split as split
from gradtape.tf.sparse.shape import transpose as transpose

segment_mean = sparse_segment_mean
segment_sqrt_n = sparse_segment_sqrt_n
segment_sum = sparse_segment_sum
