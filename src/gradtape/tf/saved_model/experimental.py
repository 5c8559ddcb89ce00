"""tf.saved_model.experimental."""

from enum import Enum

from gradtape.state.checkpoint.trackable import TrackableResource as TrackableResource


class VariablePolicy(Enum):
    """Which devices of variables are saved; accepted, since there is one."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"
