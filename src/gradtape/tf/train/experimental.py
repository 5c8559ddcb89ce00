"""tf.train.experimental."""

from gradtape.state.checkpoint.python_state import PythonState as PythonState
