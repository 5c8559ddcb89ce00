"""The monitor of a worker: a thread that exchanges signs of life and learns of failures.

Workers send them to the chief, and the chief to all workers. A connection that ends means that a
process has ended; silence means that a process is stopped or its host unreachable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from gradtape.compile.collective.failure import Failure
from gradtape.compile.collective.message import (
    Channel,
    ConnectionEndedError,
    Message,
    wait_readable,
)
from gradtape.compile.collective.rendezvous import Cluster

ENDED = "its process ended or was killed"
PROGRAM_ENDED = "its program ended"


class Monitor:
    """Knows which workers have left, which failure was reported, and how far each worker is.

    Attributes:
        failure: the first failure that a worker reported, or None.
        departed: why each worker that left has left.
        progress: the number of collectives that each worker has begun, as of its last message.
    """

    def __init__(
        self,
        cluster: Cluster,
        channels: dict[int, Channel],
        timeout: float,
        count_begun: Callable[[], int],
    ) -> None:
        """Start the thread.

        Args:
            cluster: the workers.
            channels: the chief's connections to all workers, or a worker's to the chief.
            timeout: after how many seconds of silence a worker counts as stopped.
            count_begun: returns the number of collectives that this worker has begun.
        """
        self.cluster = cluster
        self.channels = dict(channels)
        self.timeout = timeout
        self.interval = min(1.0, timeout / 5)
        self.count_begun = count_begun
        self.failure: Failure | None = None
        self.departed: dict[int, str] = {}
        self.progress = [0] * cluster.size
        self.is_closed = False
        self.heard = dict.fromkeys(channels, time.monotonic())
        self.thread = threading.Thread(target=self.run, name="gradtape-monitor", daemon=True)
        self.thread.start()

    def run(self) -> None:
        """Exchange messages until the group is closed."""
        next_beat = last = time.monotonic()
        main = threading.main_thread()
        while not self.is_closed:
            now = time.monotonic()
            if now - last > 3 * self.interval:  # this process was stopped: it missed messages
                self.heard = dict.fromkeys(self.heard, now)
            last = now
            if now >= next_beat:
                next_beat = now + self.interval
                self.send_to_all(self.make_beat())
                self.check_silence(now)
            if not main.is_alive():
                self.leave(PROGRAM_ENDED)
                return
            self.handle_messages(next_beat - now)

    def make_beat(self) -> Message:
        """A sign of life, with the progress that this worker knows of."""
        self.progress[self.cluster.rank] = self.count_begun()
        return {"kind": "beat", "progress": self.progress}

    def handle_messages(self, seconds: float) -> None:
        """Wait for messages of the other workers, and act on them."""
        sockets = {channel.socket: rank for rank, channel in self.channels.items()}
        if not sockets:
            time.sleep(min(seconds, self.interval))
        for ready in wait_readable(list(sockets), min(seconds, self.interval)) if sockets else ():
            rank = sockets[ready]
            try:
                messages = self.channels[rank].read()
            except ConnectionEndedError:
                self.note_departure(rank, ENDED)
                continue
            self.heard[rank] = time.monotonic()
            for message in messages:
                self.handle(rank, message)

    def handle(self, rank: int, message: Message) -> None:
        """Act on one message of the worker `rank`."""
        match message.get("kind"):
            case "beat" if self.cluster.rank == 0:
                self.progress[rank] = message["progress"][rank]
            case "beat":
                own = self.progress[self.cluster.rank]
                self.progress = list(message["progress"])
                self.progress[self.cluster.rank] = own
            case "leave":
                self.note_departure(message["rank"], message["reason"])
            case "fail":
                self.note_failure(Failure(message["error"], message["message"]))

    def note_departure(self, rank: int, reason: str) -> None:
        """Remember that a worker has left; the chief tells the others.

        A worker that leaves itself says nothing of the others: they leave because it does.
        """
        if self.is_closed:
            return
        channel = self.channels.pop(rank, None)
        if channel is not None:
            channel.close()
        if rank in self.departed:
            return
        self.departed[rank] = reason
        if self.cluster.rank == 0:
            self.send_to_all({"kind": "leave", "rank": rank, "reason": reason})

    def note_failure(self, failure: Failure) -> None:
        """Remember the first failure, and tell the other workers."""
        if self.failure is not None:
            return
        self.failure = failure
        self.send_to_all({"kind": "fail", "error": failure.kind, "message": failure.message})

    def check_silence(self, now: float) -> None:
        """Report a worker that has sent nothing for longer than the timeout."""
        for rank in self.channels:
            if now - self.heard[rank] > self.timeout:
                self.note_failure(
                    Failure(
                        "deadline",
                        f"tf.distribute: {self.cluster.name(rank)} must send a sign of life every "
                        f"{self.timeout:g} s (GRADTAPE_WORKER_TIMEOUT). Received none: its process "
                        "is stopped, or its host cannot be reached.",
                    )
                )
                return

    def explain_departure(self) -> Failure | None:
        """The failure that follows from the departure of workers; None if all are there."""
        if not self.departed:
            return None
        rank, reason = next(iter(self.departed.items()))
        return Failure(
            "unavailable",
            f"tf.distribute: all workers must take part in a collective. "
            f"{self.cluster.name(rank)} has left the group: {reason}. "
            "Restart the program from its last checkpoint.",
        )

    def find_late_workers(self, begun: int) -> list[int]:
        """The workers that have not begun the collective with this number yet."""
        return [
            rank
            for rank, count in enumerate(self.progress)
            if count < begun and rank != self.cluster.rank
        ]

    def send_to_all(self, message: Message) -> None:
        """Send a message on all channels."""
        for channel in list(self.channels.values()):
            channel.send(message)

    def leave(self, reason: str) -> None:
        """Tell the other workers that this one leaves, and stop."""
        if self.is_closed:
            return
        self.is_closed = True
        self.send_to_all({"kind": "leave", "rank": self.cluster.rank, "reason": reason})
