"""tf.types."""

from gradtape.tf import types_experimental

experimental = types_experimental
