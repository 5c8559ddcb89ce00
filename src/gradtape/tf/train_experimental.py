"""tf.train.experimental."""

from gradtape.state.python_state import PythonState as PythonState
