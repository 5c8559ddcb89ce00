"""tf.config: the devices, and switches; those without a meaning only remember."""

from gradtape.staging.function import functions_run_eagerly as functions_run_eagerly
from gradtape.staging.function import run_functions_eagerly as run_functions_eagerly
from gradtape.tf import config_experimental, config_optimizer, config_threading
from gradtape.tf.device import LogicalDevice as LogicalDevice
from gradtape.tf.device import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from gradtape.tf.device import PhysicalDevice as PhysicalDevice
from gradtape.tf.device import get_logical_device_configuration as get_logical_device_configuration
from gradtape.tf.device import get_visible_devices as get_visible_devices
from gradtape.tf.device import list_logical_devices as list_logical_devices
from gradtape.tf.device import list_physical_devices as list_physical_devices
from gradtape.tf.device import set_logical_device_configuration as set_logical_device_configuration
from gradtape.tf.device import set_visible_devices as set_visible_devices
from gradtape.tf.setting import get_soft_device_placement as get_soft_device_placement
from gradtape.tf.setting import set_soft_device_placement as set_soft_device_placement

experimental = config_experimental
optimizer = config_optimizer
threading = config_threading
experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
