"""Cluster resolvers: where a program learns its workers and which one it is."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from gradtape.core.errors import public
from gradtape.tf.train.cluster_spec import ClusterSpec


class ClusterResolver:
    """Base class of the resolvers: says which tasks a cluster has, and which one this process is.

    Attributes:
        task_type: the job of this process, such as "worker"; None if unknown.
        task_id: its index in the job; None if unknown.
        rpc_layer: the protocol in front of `master()`, or None.
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of the cluster."""
        raise NotImplementedError

    @public
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, by default of this process; empty if the cluster is.

        Args:
            task_type: the job of the task.
            task_id: the index of the task.
            rpc_layer: the protocol to put in front of the address.
        """
        job = task_type if task_type is not None else self.task_type
        index = task_id if task_id is not None else self.task_id
        cluster = self.cluster_spec()
        if not cluster or job is None or index is None:
            return ""
        layer = rpc_layer or self.rpc_layer
        address = cluster.task_address(job, index)
        return f"{layer}://{address}" if layer else address

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        """The number of accelerators of each kind; empty: workers compute on their host.

        Args:
            task_type: has no effect here.
            task_id: has no effect here.
            config_proto: has no effect here.
        """
        return {}

    @property
    def environment(self) -> str:
        """The name of the environment; empty."""
        return ""


class SimpleClusterResolver(ClusterResolver):
    """A resolver of values that the program states."""

    @public
    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Any = None,
        rpc_layer: str | None = None,
    ) -> None:
        """Describe the cluster and this process.

        Args:
            cluster_spec: the tasks.
            master: the address that `master()` returns without arguments, if the task is not given.
            task_type: the job of this process.
            task_id: its index in the job.
            environment: a name for the environment.
            num_accelerators: what `num_accelerators()` returns.
            rpc_layer: the protocol in front of addresses.

        Raises:
            TypeError: if `cluster_spec` is no ClusterSpec.
        """
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._cluster = ClusterSpec(cluster_spec)
        self._master, self._environment = master, environment
        self._accelerators = dict(num_accelerators or {})

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of the cluster."""
        return self._cluster

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, by default of this process."""
        return super().master(task_type, task_id, rpc_layer) or self._master

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: Any = None,
    ) -> dict[str, int]:
        """What the program stated."""
        return self._accelerators

    @property
    def environment(self) -> str:
        """What the program stated."""
        return self._environment


class TFConfigClusterResolver(ClusterResolver):
    """A resolver of the environment variable TF_CONFIG.

    Its value is JSON: `{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type":
    "worker", "index": 0}}`. Without it there is one worker.
    """

    @public
    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        """Read TF_CONFIG whenever the resolver is asked; arguments replace parts of it.

        Args:
            task_type: the job of this process.
            task_id: its index in the job.
            rpc_layer: the protocol in front of addresses.
            environment: a name for the environment.
        """
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @property
    def task_type(self) -> str | None:  # type: ignore[override]
        """The job of this process; None without TF_CONFIG."""
        given = self._task_type
        return given if given is not None else read_task().get("type")

    @property
    def task_id(self) -> int | None:  # type: ignore[override]
        """The index of this process in its job; None without TF_CONFIG."""
        given = self._task_id if self._task_id is not None else read_task().get("index")
        return None if given is None else int(given)

    @property
    def rpc_layer(self) -> str | None:  # type: ignore[override]
        """The protocol in front of addresses."""
        return self._rpc_layer or read_tf_config().get("rpc_layer", "grpc")

    @property
    def environment(self) -> str:
        """The name of the environment."""
        return self._environment or read_tf_config().get("environment", "")

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of the cluster; none without TF_CONFIG."""
        return ClusterSpec(read_tf_config().get("cluster", {}))


def read_tf_config() -> dict[str, Any]:
    """The value of TF_CONFIG.

    Raises:
        ValueError: if it is no JSON object.
    """
    text = os.environ.get("TF_CONFIG", "{}")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"TF_CONFIG must be a JSON object. Received {text[:200]!r}: {error}."
        ) from error
    if not isinstance(value, dict):
        raise ValueError(f"TF_CONFIG must be a JSON object. Received {text[:200]!r}.")
    return value


def read_task() -> dict[str, Any]:
    """The part of TF_CONFIG that says which task this process is."""
    task: dict[str, Any] = read_tf_config().get("task", {})
    return task


class SlurmClusterResolver(ClusterResolver):
    """A resolver of the environment that Slurm's `srun` gives to each task."""

    task_type: str
    task_id: int

    @public
    def __init__(
        self,
        jobs: dict[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: Any = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        """Read the environment.

        Args:
            jobs: the number of tasks of each job, in the order of Slurm's tasks; by default all
                are workers.
            port_base: the port of the first task of a node; the others take the following ones.
            gpus_per_node: has no effect here: JAX chooses the accelerators.
            gpus_per_task: has no effect here.
            tasks_per_node: the number of tasks of each node, instead of Slurm's.
            auto_set_gpu: has no effect here.
            rpc_layer: the protocol in front of addresses.

        Raises:
            RuntimeError: outside of a Slurm step, or if there are fewer tasks than `jobs` needs.
        """
        hosts = expand_hosts(read_slurm("STEP_NODELIST", "NODELIST"))
        counts = tasks_per_node or expand_counts(read_slurm("STEP_TASKS_PER_NODE"))
        if isinstance(counts, int):
            counts = [counts] * len(hosts)
        addresses = [
            f"{host}:{port_base + i}"
            for host, count in zip(hosts, counts, strict=False)
            for i in range(count)
        ]
        rank = int(read_slurm("PROCID"))
        jobs = jobs or {"worker": len(addresses)}
        if sum(jobs.values()) > len(addresses):
            raise RuntimeError(
                f"SlurmClusterResolver: jobs must need at most {len(addresses)} tasks, as Slurm "
                f"started. Received {jobs}."
            )
        self.rpc_layer = rpc_layer
        self._addresses: dict[str, list[str]] = {}
        start = 0
        for job, count in jobs.items():
            self._addresses[job] = addresses[start : start + count]
            if start <= rank < start + count:
                self.task_type, self.task_id = job, rank - start
            start += count

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of the step."""
        return ClusterSpec(self._addresses)

    def get_task_info(self) -> tuple[str, int]:
        """The job of this process, and its index there."""
        return self.task_type, self.task_id


def read_slurm(*names: str) -> str:
    """The first of Slurm's variables that is set."""
    for name in names:
        if f"SLURM_{name}" in os.environ:
            return os.environ[f"SLURM_{name}"]
    raise RuntimeError(
        f"SlurmClusterResolver: SLURM_{names[0]} must be set. Start the program with srun."
    )


def expand_hosts(text: str) -> list[str]:
    """The hosts of Slurm's short form: `n[1-3,07],login` are n1, n2, n3, n07 and login."""
    hosts = []
    for part in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text):
        found = re.fullmatch(r"([^\[]*)(?:\[([\d,\s-]+)\]([^\[]*))?", part.strip())
        if not found:
            raise ValueError(f"SlurmClusterResolver: not a list of hosts: {text!r}.")
        prefix, ranges, suffix = found.groups()
        if ranges is None:
            hosts.append(prefix)
            continue
        for item in ranges.split(","):
            first, _, last = item.strip().partition("-")
            hosts += [
                f"{prefix}{number:0{len(first)}d}{suffix}"
                for number in range(int(first), int(last or first) + 1)
            ]
    return hosts


def expand_counts(text: str) -> list[int]:
    """The numbers of Slurm's short form: `3(x2),2` are 3, 3 and 2."""
    counts: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part.strip())
        if not found:
            raise ValueError(f"SlurmClusterResolver: not a list of numbers of tasks: {text!r}.")
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


class UnionResolver(ClusterResolver):
    """A resolver of several clusters together; the first one says which task this process is."""

    @public
    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        """Join resolvers.

        Args:
            *args: resolvers; the addresses of later ones are appended to equal jobs.
            **kwargs: `task_type`, `task_id` and `rpc_layer` of this process.

        Raises:
            ValueError: without resolvers.
        """
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        self._resolvers = args
        self.task_type = kwargs.get("task_type") or args[0].task_type
        given = kwargs.get("task_id")
        self.task_id = given if given is not None else args[0].task_id
        self.rpc_layer = kwargs.get("rpc_layer") or args[0].rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of all clusters."""
        jobs: dict[str, list[Any]] = {}
        for resolver in self._resolvers:
            cluster = resolver.cluster_spec()
            for job in cluster.jobs:
                jobs.setdefault(job, []).extend(cluster.job_tasks(job))
        return ClusterSpec(jobs)


def list_workers(resolver: ClusterResolver) -> tuple[list[str], int]:
    """The addresses of the workers that train together, and the rank of this process.

    The chief comes first. An evaluator trains alone: it has a group of its own.

    Raises:
        ValueError: if the cluster has parameter servers, or no such task.
    """
    cluster = resolver.cluster_spec()
    job, index = resolver.task_type, resolver.task_id
    if not cluster or job == "evaluator":
        return ["localhost:0"], 0
    if "ps" in cluster.jobs:
        raise ValueError(
            "MultiWorkerMirroredStrategy: the cluster must not have parameter servers. Received "
            f"{cluster}. Each worker has its own copy of the variables."
        )
    if job is None:
        raise ValueError(
            f"MultiWorkerMirroredStrategy: the task of this process must be known. Received the "
            f"cluster {cluster} without a task. Set `task` in TF_CONFIG."
        )
    tasks: list[tuple[str, int]] = [
        (name, i)
        for name in ("chief", "worker")
        if name in cluster.jobs
        for i in cluster.task_indices(name)
    ]
    own = (job, index or 0)
    if own not in tasks:
        raise ValueError(
            f"MultiWorkerMirroredStrategy: this process must be a task of the cluster {cluster}. "
            f"Received task {job!r} with index {index!r}."
        )
    return [cluster.task_address(*task) for task in tasks], tasks.index(own)
