"""TPUStrategy and its resolver: one program over the TPUs, or other devices, of JAX."""

from __future__ import annotations

from typing import Any

from gradtape.compile.xla.device import fix_visible_accelerators, list_jax_devices
from gradtape.core.errors import NotFoundError, public
from gradtape.core.ports import devices as accelerator_state
from gradtape.devices.array import Device
from gradtape.tf.distribute.cluster_resolver import ClusterResolver
from gradtape.tf.distribute.extended import StrategyExtended
from gradtape.tf.distribute.strategy import Strategy
from gradtape.tf.train.cluster_spec import ClusterSpec

LOCAL_NAMES = (None, "", "local")
ANY_DEVICE = "jax"


class TPUClusterResolver(ClusterResolver):
    """Finds the devices of a TPUStrategy: those of JAX in this process.

    Args:
        tpu: None, "" or "local" for the TPUs of this host; "jax" for all devices of JAX, of any
            kind, so that a program can be tried without a TPU.
        zone: has no effect here.
        project: has no effect here.

    Raises:
        NotFoundError: if `tpu` names a remote TPU, or there is no device.
    """

    task_type = "worker"
    task_id = 0

    @public
    def __init__(
        self, tpu: str | None = None, zone: Any = None, project: Any = None, **settings: Any
    ) -> None:
        if tpu not in LOCAL_NAMES and tpu != ANY_DEVICE:
            raise NotFoundError(
                f"TPUClusterResolver: a TPU of another host cannot be used. Received {tpu!r}. "
                "Start the program on the host of the TPU, with tpu='local'."
            )
        self._tpu = tpu or "local"
        self._devices = list_jax_devices() if tpu == ANY_DEVICE else find_tpus()
        if not self._devices:
            raise NotFoundError(
                "TPUClusterResolver: JAX has no TPU in this process. Install jax[tpu] on the host "
                "of a TPU, or use all devices of JAX by tpu='jax'."
            )

    @classmethod
    def connect(cls, tpu: str | None = None, **settings: Any) -> TPUClusterResolver:
        """A resolver whose devices are ready.

        Args:
            tpu: as for the class.
            settings: have no effect here.

        Returns:
            A TPUClusterResolver.
        """
        return cls(tpu)

    def cluster_spec(self) -> ClusterSpec:
        """An empty cluster: the devices belong to this process."""
        return ClusterSpec({})

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """The number of devices, as that of TPUs.

        Args:
            task_type: has no effect here.
            task_id: has no effect here.
            config_proto: has no effect here.
        """
        return {"TPU": len(self._devices)}

    def get_master(self) -> str:
        """The address of the TPU; empty for this process."""
        return ""


class TPUExtended(StrategyExtended):
    """The part of TPUStrategy that optimizers use."""

    @property
    def num_hosts(self) -> int:
        """The number of hosts: one."""
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        """The number of replicas of this host."""
        return len(self._devices)


class TPUStrategy(Strategy):
    """One replica for each TPU of this host; a compiled step is one program for all of them.

    Args:
        tpu_cluster_resolver: a TPUClusterResolver; None for the TPUs of this host.
        experimental_device_assignment: must be None.
        experimental_spmd_xla_partitioning: must be False.

    Raises:
        NotFoundError: if there is no TPU.
        NotImplementedError: for the experimental arguments.

    Note:
        Not tried on TPUs. A call of `run` outside of a `tf.function` runs on the host.
    """

    @public
    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        if experimental_device_assignment is not None or experimental_spmd_xla_partitioning:
            raise NotImplementedError(
                "TPUStrategy: every device has one replica. experimental_device_assignment and "
                "experimental_spmd_xla_partitioning are not supported."
            )
        resolver = tpu_cluster_resolver or TPUClusterResolver()
        if not isinstance(resolver, TPUClusterResolver):
            raise TypeError(
                "TPUStrategy: tpu_cluster_resolver must be a TPUClusterResolver. Received "
                f"{type(resolver).__name__}."
            )
        self._resolver = resolver
        found = resolver._devices
        accelerator_state.activate()
        super().__init__(TPUExtended(self, [device.name for device in found], mesh=found))

    @property
    def cluster_resolver(self) -> Any:
        """The resolver."""
        return self._resolver


def find_tpus() -> list[Device]:
    """The visible TPUs of this process."""
    return [device for device in fix_visible_accelerators() if device.kind == "TPU"]


@public
def initialize_tpu_system(cluster_resolver: Any = None) -> Any:
    """Check that there are devices for a TPUStrategy; JAX needs no initialization.

    Args:
        cluster_resolver: a TPUClusterResolver; None for the TPUs of this host.

    Returns:
        The resolver, in place of TensorFlow's topology.

    Raises:
        NotFoundError: if there is no TPU.
    """
    return cluster_resolver or TPUClusterResolver()


def shutdown_tpu_system(cluster_resolver: Any = None) -> None:
    """Return at once: JAX needs no shutdown."""
