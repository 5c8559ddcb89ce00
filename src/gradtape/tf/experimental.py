"""tf.experimental."""

from gradtape.tf import dlpack as dlpack
