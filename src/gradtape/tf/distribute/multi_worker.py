"""MultiWorkerMirroredStrategy: replicas in several processes, with equal variables in all."""

from __future__ import annotations

from typing import Any

from gradtape.compile.collective.process_group import connect_workers
from gradtape.core.errors import public
from gradtape.tf.distribute.cluster_resolver import (
    ClusterResolver,
    TFConfigClusterResolver,
    list_workers,
)
from gradtape.tf.distribute.cross_device_ops import (
    CommunicationImplementation,
    CommunicationOptions,
)
from gradtape.tf.distribute.extended import StrategyExtended
from gradtape.tf.distribute.mirrored import find_devices
from gradtape.tf.distribute.strategy import Strategy


class MultiWorkerExtended(StrategyExtended):
    """The part of MultiWorkerMirroredStrategy that optimizers and callbacks use."""

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker writes checkpoints: the chief does."""
        return self._group.rank == 0

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries: the chief does."""
        return self._group.rank == 0


class MultiWorkerMirroredStrategy(Strategy):
    """One replica for each device of each worker; a worker is a process, possibly on its own host.

    All workers run the same program. Variables start with the chief's values, and updates are
    reduced over all workers, so that the variables stay equal. The constructor waits until all
    workers have started.

    Args:
        cluster_resolver: names the workers; by default it reads TF_CONFIG.
        communication_options: `timeout_seconds` limits how long a collective waits for workers
            that are alive; by default it waits as long as they are. The rest has no effect.

    Raises:
        ValueError: if the resolver names no cluster that this process belongs to.
        DeadlineExceededError: if a worker does not start in time.

    Note:
        A worker that ends or is stopped is an UnavailableError or DeadlineExceededError in the
        collectives of the others. Without TF_CONFIG there is one worker.
    """

    @public
    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        resolver = cluster_resolver or TFConfigClusterResolver()
        options = communication_options or CommunicationOptions()
        addresses, rank = list_workers(resolver)
        group = connect_workers(addresses, rank, options.timeout_seconds)
        super().__init__(MultiWorkerExtended(self, find_devices(None), group))
        self._cluster_resolver = resolver

    @property
    def cluster_resolver(self) -> ClusterResolver:
        """The resolver that names the workers."""
        return self._cluster_resolver


class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """MultiWorkerMirroredStrategy with the arguments that it had in `tf.distribute.experimental`.

    Args:
        communication: has no effect here.
        cluster_resolver: names the workers; by default it reads TF_CONFIG.
    """

    @public
    def __init__(
        self,
        communication: Any = CommunicationImplementation.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        options = CommunicationOptions(implementation=communication)
        super().__init__(cluster_resolver, options)
