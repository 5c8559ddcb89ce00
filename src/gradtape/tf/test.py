"""tf.test: what tests of gradients need."""

from gradtape.tf.gradients import compute_gradient as compute_gradient
