"""What TensorFlow does not have: looking into a tape."""

from gradtape.debug.memory import saved_bytes as saved_bytes
