"""InputContext: what a function that makes the dataset of a worker is told."""

from __future__ import annotations

from gradtape.core.errors import public


class InputContext:
    """What a function that makes the dataset of a worker is told.

    Args:
        num_input_pipelines: the number of workers.
        input_pipeline_id: the number of this worker.
        num_replicas_in_sync: the number of replicas of all workers.
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """The number of workers."""
        return self._num_input_pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The number of this worker."""
        return self._input_pipeline_id

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas of all workers."""
        return self._num_replicas_in_sync

    @public
    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size of each replica.

        Args:
            global_batch_size: the number of rows of all replicas together.

        Returns:
            An integer.

        Raises:
            ValueError: if the replicas cannot have equal batches.
        """
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync}"
            )
        return global_batch_size // self._num_replicas_in_sync

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self._input_pipeline_id}, "
            f"total: {self._num_input_pipelines})"
        )
