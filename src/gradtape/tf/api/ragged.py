"""tf.ragged: ragged tensors from nested lists, ranges, masks and feature crosses."""

from gradtape.tf.ragged.creation import boolean_mask as boolean_mask
from gradtape.tf.ragged.creation import constant as constant
from gradtape.tf.ragged.creation import map_flat_values as map_flat_values
from gradtape.tf.ragged.creation import range as range
from gradtape.tf.ragged.cross import cross as cross
from gradtape.tf.ragged.cross import cross_hashed as cross_hashed
from gradtape.tf.ragged.partition import row_splits_to_segment_ids as row_splits_to_segment_ids
from gradtape.tf.ragged.partition import segment_ids_to_row_splits as segment_ids_to_row_splits
from gradtape.tf.ragged.partition import stack_dynamic_partitions as stack_dynamic_partitions
from gradtape.tf.ragged.shape import stack as stack
