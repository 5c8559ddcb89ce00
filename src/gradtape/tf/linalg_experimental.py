"""tf.linalg.experimental."""

from gradtape.tf.iteration import conjugate_gradient as conjugate_gradient
