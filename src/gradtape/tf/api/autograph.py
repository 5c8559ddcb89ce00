"""tf.autograph: options of loops; `tf.function` rewrites only loops with `set_loop_options`."""

from gradtape.tf.autograph import experimental as experimental
from gradtape.tf.autograph.conversion import set_verbosity as set_verbosity
from gradtape.tf.autograph.conversion import to_code as to_code
from gradtape.tf.autograph.conversion import to_graph as to_graph
from gradtape.tf.autograph.conversion import trace as trace
