"""MirroredStrategy and OneDeviceStrategy: replicas in one process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from gradtape.core.errors import public
from gradtape.core.ports import JaxPort
from gradtape.core.ports import devices as accelerator_state
from gradtape.core.worker_group import WorkerGroup
from gradtape.devices.array import LOCALHOST, Device
from gradtape.tf.config.device import list_logical_devices, parse_device_spec
from gradtape.tf.distribute.cross_device_ops import check_cross_device_ops
from gradtape.tf.distribute.extended import StrategyExtended
from gradtape.tf.distribute.strategy import Strategy


class MirroredStrategy(Strategy):
    """One replica for each device of this process, with mirrored variables.

    Args:
        devices: names such as "CPU:0" and "CPU:1", one for each replica; None for all GPUs, or the
            CPU if there is none. Several logical CPUs are declared by
            `tf.config.set_logical_device_configuration`, or by naming them here.
        cross_device_ops: accepted without effect.

    Raises:
        ValueError: if `devices` is empty or names a device twice.

    Note:
        CPU replicas run one after another, in lock-step. On accelerators, a compiled step is one
        program. See docs/replicas.md.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> strategy.num_replicas_in_sync
        2
    """

    @public
    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: Any = None) -> None:
        check_cross_device_ops(cross_device_ops)
        names = find_devices(devices)
        super().__init__(StrategyExtended(self, names, mesh=find_accelerators(names)))

    @classmethod
    def _with_group(cls, devices: Sequence[str], group: WorkerGroup) -> Strategy:
        """A strategy with one replica for each device of each worker of `group`."""
        strategy = cls.__new__(cls)
        Strategy.__init__(strategy, StrategyExtended(strategy, devices, group))
        return strategy


class OneDeviceExtended(StrategyExtended):
    """The part of OneDeviceStrategy that optimizers use."""

    def _create_variable(self, next_creator: Callable[..., Any], **facts: Any) -> Any:
        """Create an ordinary variable that remembers its strategy."""
        variable = next_creator(**facts)
        with contextlib.suppress(AttributeError):
            variable.distribute_strategy = self._strategy
        return variable


class OneDeviceStrategy(Strategy):
    """One replica on a given device.

    Args:
        device: the name of the device, such as "/cpu:0".
    """

    @public
    def __init__(self, device: str) -> None:
        super().__init__(OneDeviceExtended(self, [resolve_device(device)]))


def find_devices(devices: Sequence[str] | None) -> list[str]:
    """The full names of the devices of a strategy."""
    if devices is None:
        found = list_logical_devices("GPU") or list_logical_devices("CPU")[:1]
        devices = [device.name for device in found]
    names = [resolve_device(device) for device in devices]
    if not names:
        raise ValueError("MirroredStrategy: `devices` must name at least one device.")
    if len(set(names)) < len(names):
        raise ValueError(
            f"MirroredStrategy: `devices` must be different devices. Received {list(devices)}."
        )
    return names


def find_accelerators(names: Sequence[str]) -> list[Device]:
    """The accelerators of these names; empty unless all of them exist."""
    found = []
    for name in names:
        spec = parse_device_spec(name)
        kind = spec.kind or "CPU"
        device = None if kind == "CPU" else JaxPort.find_device(kind, spec.number or 0)
        if device is None:
            return []
        found.append(device)
    if len(found) < 2:
        return []
    accelerator_state.activate()
    return found


def resolve_device(device: str) -> str:
    """The full name of a device."""
    spec = parse_device_spec(device)
    return f"{LOCALHOST}{spec.kind or 'CPU'}:{spec.number or 0}"
