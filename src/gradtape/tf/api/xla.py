"""tf.xla."""

from gradtape.tf.xla import experimental as experimental
