"""tf.autograph: accepted for compatibility; `tf.function` never rewrites Python code."""

from gradtape.tf.autograph import experimental as experimental
from gradtape.tf.autograph.conversion import set_verbosity as set_verbosity
from gradtape.tf.autograph.conversion import to_code as to_code
from gradtape.tf.autograph.conversion import to_graph as to_graph
from gradtape.tf.autograph.conversion import trace as trace
