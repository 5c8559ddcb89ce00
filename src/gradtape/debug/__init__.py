"""What TensorFlow does not have: looking into a tape, and holding engines against each other."""

from gradtape.debug.engines import Comparison as Comparison
from gradtape.debug.engines import Difference as Difference
from gradtape.debug.engines import compare_engines as compare_engines
from gradtape.debug.memory import saved_bytes as saved_bytes
