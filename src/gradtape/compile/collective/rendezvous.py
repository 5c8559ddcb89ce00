"""Rendezvous: every worker connects to the chief, and then to its neighbours in the ring."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gradtape.compile.collective.address import (
    Address,
    describe_host,
    disable_delay,
    open_listener,
    open_local_listener,
    tune_socket,
)
from gradtape.compile.collective.message import (
    Channel,
    ConnectionEndedError,
    Message,
    wait_readable,
)
from gradtape.core.errors import DeadlineExceededError, InvalidArgumentError, UnavailableError
from gradtape.core.log import get_log

PROTOCOL = "gradtape workers 1"
REPORT_SECONDS = (
    10.0  # how long a worker waits before it says for whom, and how often it repeats it
)
RETRY_SECONDS = 0.1
HELLO_SECONDS = 5.0
RING_SECONDS = 10.0


@dataclass
class Cluster:
    """The workers of a program: the address of each, and which one this process is."""

    addresses: Sequence[Address]
    rank: int

    @property
    def size(self) -> int:
        """The number of workers."""
        return len(self.addresses)

    def name(self, rank: int) -> str:
        """How messages name a worker."""
        role = ", the chief" if rank == 0 else ""
        return f"worker {rank}{role} ({self.addresses[rank]})"

    def names(self, ranks: Sequence[int]) -> str:
        """How messages name several workers."""
        return " and ".join(self.name(rank) for rank in ranks)


@dataclass
class Links:
    """The connections of a worker: messages to the chief, or to all; arrays to its neighbours."""

    channels: dict[int, Channel] = field(default_factory=dict)
    left: socket.socket | None = None
    right: socket.socket | None = None

    def close(self) -> None:
        """Close all connections."""
        for channel in self.channels.values():
            channel.close()
        for connection in (self.left, self.right):
            if connection is not None:
                connection.close()


class WaitReport:
    """Says from time to time for whom this worker waits, and stops the wait at its deadline."""

    def __init__(self, cluster: Cluster, timeout: float) -> None:
        """Begin to wait, for at most `timeout` seconds."""
        self.cluster = cluster
        self.started = time.monotonic()
        self.timeout = timeout
        self.next_report = self.started + REPORT_SECONDS

    def check(self, missing: Sequence[int]) -> bool:
        """True if it is time for a report, which this logs.

        Raises:
            DeadlineExceededError: if the wait is over.
        """
        now = time.monotonic()
        names = self.cluster.names(missing)
        if now - self.started > self.timeout:
            raise DeadlineExceededError(
                f"MultiWorkerMirroredStrategy: all {self.cluster.size} workers must start within "
                f"{self.timeout:.0f} s (GRADTAPE_JOIN_TIMEOUT). Missing: {names}. "
                "Check that each one runs and that TF_CONFIG has its address."
            )
        if now < self.next_report:
            return False
        self.next_report = now + REPORT_SECONDS
        get_log().warning(
            "tf.distribute: worker %d has waited %.0f s for %s to start.",
            self.cluster.rank,
            now - self.started,
            names,
        )
        return True


def join_cluster(cluster: Cluster, timeout: float) -> Links:
    """Connect this worker with the others; waits until all of them have started.

    Args:
        cluster: the addresses of the workers, and the rank of this one.
        timeout: how many seconds to wait for the other workers.
    """
    listener = open_listener(cluster.addresses[cluster.rank])
    local, local_name = open_local_listener()
    links = Links()
    hello = {
        "kind": "hello",
        "protocol": PROTOCOL,
        "rank": cluster.rank,
        "addresses": [str(address) for address in cluster.addresses],
        "host": describe_host(),
        "local": local_name,
    }
    try:
        if cluster.rank == 0:
            start = gather_workers(cluster, listener, hello, links, timeout)
        else:
            start = join_chief(cluster, hello, links, timeout)
        connect_ring(cluster, start, listener, local, links)
    except BaseException:
        links.close()
        raise
    finally:
        listener.close()
        if local is not None:
            local.close()
    return links


def gather_workers(
    cluster: Cluster, listener: socket.socket, hello: Message, links: Links, timeout: float
) -> Message:
    """The chief's part: accept all workers, then tell them how to reach each other."""
    report = WaitReport(cluster, timeout)
    hellos = {0: hello}
    while missing := [rank for rank in range(cluster.size) if rank not in hellos]:
        if report.check(missing):
            for channel in links.channels.values():
                channel.send({"kind": "waiting", "missing": missing})
        waiting = {channel.socket: rank for rank, channel in links.channels.items()}
        for ready in wait_readable([listener, *waiting], 0.5):
            if ready is listener:
                accept_worker(cluster, listener, hello, hellos, links)
            else:
                drop_if_ended(waiting[ready], hellos, links)
    start = {
        "kind": "start",
        "group": secrets.token_hex(16),
        "hosts": [hellos[rank]["host"] for rank in range(cluster.size)],
        "locals": [hellos[rank]["local"] for rank in range(cluster.size)],
    }
    for channel in links.channels.values():
        channel.send(start)
    return start


def accept_worker(
    cluster: Cluster,
    listener: socket.socket,
    own: Message,
    hellos: dict[int, Message],
    links: Links,
) -> None:
    """Accept one connection; a program that is no worker of this cluster is turned away."""
    channel = accept_channel(listener)
    if channel is None:
        return
    hello = channel.read_first()
    rank = hello.get("rank")
    if hello.get("kind") != "hello" or not isinstance(rank, int) or not 0 < rank < cluster.size:
        channel.close()
        return
    for key in ("protocol", "addresses"):
        if hello.get(key) != own[key]:
            problem = (
                f"MultiWorkerMirroredStrategy: all workers must have the same {key}. Worker 0 has "
                f"{own[key]}. Received {hello.get(key)} from worker {rank}."
            )
            channel.send({"kind": "refuse", "message": problem})
            channel.close()
            raise InvalidArgumentError(problem)
    if rank in links.channels:  # the worker was restarted before all had started
        links.channels[rank].close()
    links.channels[rank], hellos[rank] = channel, hello


def drop_if_ended(rank: int, hellos: dict[int, Message], links: Links) -> None:
    """Forget a worker that ended before all had started; it may be started again."""
    try:
        links.channels[rank].read()
    except ConnectionEndedError:
        links.channels.pop(rank).close()
        del hellos[rank]


def accept_channel(listener: socket.socket) -> Channel | None:
    """The next connection of a listener, or None if it is gone again."""
    with suppress(OSError):
        connection, _ = listener.accept()
        disable_delay(connection)
        return Channel(connection)
    return None


def join_chief(cluster: Cluster, hello: Message, links: Links, timeout: float) -> Message:
    """A worker's part: introduce itself to the chief, and wait until all workers have started."""
    report = WaitReport(cluster, timeout)
    while True:
        channel = connect_chief(cluster, report)
        channel.send(hello)
        start = await_start(channel, cluster, report)
        if start is not None:
            links.channels[0] = channel
            return start
        channel.close()  # the chief ended: it may be started again
        time.sleep(RETRY_SECONDS)


def connect_chief(cluster: Cluster, report: WaitReport) -> Channel:
    """Connect to the chief, which may start later than this worker."""
    address = cluster.addresses[0]
    while True:
        report.check([0])
        with suppress(OSError):
            connection = socket.create_connection(address, timeout=HELLO_SECONDS)
            if connection.getsockname() != connection.getpeername():
                disable_delay(connection)
                return Channel(connection)
            connection.close()  # TCP connected the port to itself: the chief does not listen yet
        time.sleep(RETRY_SECONDS)


def await_start(channel: Channel, cluster: Cluster, report: WaitReport) -> Message | None:
    """The chief's message that all workers have started; None if the chief ended before."""
    missing: Sequence[int] = [0]
    while True:
        try:
            messages = channel.wait_for(0.5)
        except ConnectionEndedError:
            return None
        for message in messages:
            if message["kind"] == "start":
                return message
            if message["kind"] == "refuse":
                raise InvalidArgumentError(message["message"])
            missing = message.get("missing", missing)
            report.next_report = 0.0
            report.check(missing)
        if time.monotonic() - report.started > report.timeout:
            report.check(missing)


def connect_ring(
    cluster: Cluster,
    start: Message,
    listener: socket.socket,
    local: socket.socket | None,
    links: Links,
) -> None:
    """Connect to the right neighbour, and accept the connection of the left one."""
    right, left = (cluster.rank + 1) % cluster.size, (cluster.rank - 1) % cluster.size
    hello = {"kind": "ring", "group": start["group"], "rank": cluster.rank}
    deadline = time.monotonic() + RING_SECONDS
    connection = connect_neighbour(cluster, start, right)
    links.right = connection
    Channel(connection).send(hello)
    listeners = [each for each in (listener, local) if each is not None]
    while links.left is None:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise DeadlineExceededError(
                f"MultiWorkerMirroredStrategy: {cluster.name(left)} must connect to worker "
                f"{cluster.rank} within {RING_SECONDS:.0f} s. Is {cluster.addresses[cluster.rank]} "
                "reachable from there?"
            )
        for ready in wait_readable(listeners, seconds):
            channel = accept_channel(ready)
            if channel is None:
                continue
            if channel.read_first() == {**hello, "rank": left}:
                links.left = channel.socket
            else:
                channel.close()
    tune_socket(links.left)
    tune_socket(connection)


def connect_neighbour(cluster: Cluster, start: Message, rank: int) -> socket.socket:
    """Connect to a worker: by a local socket if it is on the same host, else by TCP."""
    hosts, names = start["hosts"], start["locals"]
    try:
        if not names[rank] or hosts[rank] != hosts[cluster.rank]:
            return socket.create_connection(cluster.addresses[rank], timeout=RING_SECONDS)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(RING_SECONDS)
        connection.connect("\0" + names[rank])
    except OSError as error:
        raise UnavailableError(
            f"MultiWorkerMirroredStrategy: worker {cluster.rank} must be able to connect to "
            f"{cluster.name(rank)}. Received {error}."
        ) from error
    return connection
