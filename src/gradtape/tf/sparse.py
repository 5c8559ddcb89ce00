"""tf.sparse: reductions over chosen rows. There are no sparse tensors."""

from gradtape.tf.segment import sparse_segment_mean as segment_mean
from gradtape.tf.segment import sparse_segment_sqrt_n as segment_sqrt_n
from gradtape.tf.segment import sparse_segment_sum as segment_sum

__all__ = ["segment_mean", "segment_sqrt_n", "segment_sum"]
