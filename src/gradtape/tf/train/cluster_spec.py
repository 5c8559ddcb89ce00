"""ClusterSpec: the addresses of the tasks of each job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradtape.core.errors import public


class ClusterSpec:
    """The addresses of the processes that run a program together.

    Example:
        >>> cluster = tf.train.ClusterSpec({"worker": ["host1:2222", "host2:2222"]})
        >>> cluster.num_tasks("worker"), cluster.task_address("worker", 1)
        (2, 'host2:2222')
    """

    @public
    def __init__(self, cluster: Any) -> None:
        """Describe a cluster.

        Args:
            cluster: a ClusterSpec, or a dictionary from the name of a job to a list of addresses
                or to a dictionary from task indices to addresses.

        Raises:
            TypeError: for anything else.
        """
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, dict):
            self._jobs = {job: number_tasks(job, tasks) for job, tasks in cluster.items()}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                f"addresses, or a `ClusterDef` protocol buffer. Received {cluster!r}."
            )

    def as_dict(self) -> dict[str, Any]:
        """Jobs with a list of their addresses, or a dictionary where indices are missing.

        Returns:
            A dict.
        """
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    @public
    def num_tasks(self, job_name: str) -> int:
        """The number of tasks of a job.

        Args:
            job_name: the name of a job.

        Returns:
            An integer.
        """
        return len(self._tasks_of(job_name))

    @public
    def task_indices(self, job_name: str) -> list[int]:
        """The indices of the tasks of a job.

        Args:
            job_name: the name of a job.

        Returns:
            A list of integers.
        """
        return sorted(self._tasks_of(job_name))

    @public
    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Args:
            job_name: the name of a job.
            task_index: the index of the task.

        Returns:
            A string.

        Raises:
            ValueError: if there is no such job or task.
        """
        tasks = self._tasks_of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    @public
    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by index; None where an index is missing.

        Args:
            job_name: the name of a job.

        Returns:
            A list of addresses.
        """
        tasks = self._tasks_of(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _tasks_of(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        jobs = self.as_dict()
        described = ", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs))
        return f"ClusterSpec({{{described}}})"


def number_tasks(job: str, tasks: Any) -> dict[int, str]:
    """The addresses of a job by index, in the order of indices."""
    if isinstance(tasks, Mapping):
        numbered = {int(i): tasks[i] for i in sorted(tasks, key=int)}
    elif isinstance(tasks, (list, tuple)):
        numbered = dict(enumerate(tasks))
    else:
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers to strings."
        )
    for address in numbered.values():
        if not isinstance(address, (str, bytes)):
            raise TypeError(f"Task address {address!r} must be bytes or unicode")
    return {
        i: address.decode() if isinstance(address, bytes) else address
        for i, address in numbered.items()
    }
