"""tf.profiler."""

from gradtape.tf.profiler import experimental as experimental
