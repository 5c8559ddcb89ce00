"""tf.linalg.experimental."""

from gradtape.tf.linalg.conjugate_gradient import conjugate_gradient as conjugate_gradient
