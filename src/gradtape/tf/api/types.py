"""tf.types."""

from gradtape.tf.types import experimental as experimental
