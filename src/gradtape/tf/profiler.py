"""tf.profiler."""

from gradtape.tf import profiler_experimental

experimental = profiler_experimental
