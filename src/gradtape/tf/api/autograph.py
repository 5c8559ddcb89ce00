"""tf.autograph: Python's control flow works inside `tf.function` without rewriting anything."""

from gradtape.tf.autograph import experimental as experimental
from gradtape.tf.autograph.conversion import set_verbosity as set_verbosity
from gradtape.tf.autograph.conversion import to_code as to_code
from gradtape.tf.autograph.conversion import to_graph as to_graph
from gradtape.tf.autograph.conversion import trace as trace
