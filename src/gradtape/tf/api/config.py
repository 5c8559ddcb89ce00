"""tf.config: devices and runtime settings; settings without an effect are only stored."""

from gradtape.jit.run_mode import functions_run_eagerly as functions_run_eagerly
from gradtape.jit.run_mode import run_functions_eagerly as run_functions_eagerly
from gradtape.tf.config import experimental as experimental
from gradtape.tf.config import optimizer as optimizer
from gradtape.tf.config import threading as threading
from gradtape.tf.config.device import LogicalDevice as LogicalDevice
from gradtape.tf.config.device import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from gradtape.tf.config.device import PhysicalDevice as PhysicalDevice
from gradtape.tf.config.device import (
    get_logical_device_configuration as get_logical_device_configuration,
)
from gradtape.tf.config.device import get_visible_devices as get_visible_devices
from gradtape.tf.config.device import list_logical_devices as list_logical_devices
from gradtape.tf.config.device import list_physical_devices as list_physical_devices
from gradtape.tf.config.device import (
    set_logical_device_configuration as set_logical_device_configuration,
)
from gradtape.tf.config.device import set_visible_devices as set_visible_devices
from gradtape.tf.config.runtime_setting import (
    get_soft_device_placement as get_soft_device_placement,
)
from gradtape.tf.config.runtime_setting import (
    set_soft_device_placement as set_soft_device_placement,
)

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
