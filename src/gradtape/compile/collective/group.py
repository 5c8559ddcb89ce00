"""The group of workers over sockets: collectives on host arrays, with errors instead of hangs."""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from gradtape.compile.collective.agreement import are_same_programs, describe_difference
from gradtape.compile.collective.bucket import make_buckets, pack_bucket, unpack_bucket
from gradtape.compile.collective.failure import Failure, PeerLostError
from gradtape.compile.collective.monitor import ENDED, Monitor
from gradtape.compile.collective.rendezvous import REPORT_SECONDS, Cluster, Links
from gradtape.compile.collective.ring import Ring
from gradtape.core.errors import OpError
from gradtape.core.log import get_log
from gradtape.core.worker_group import check_reduction, check_root

Array = np.ndarray[Any, Any]

HEADER = struct.Struct("!4sQIII")  # mark, number, place, lengths of call and program
MARK = b"gtwc"
SMALL_BYTES = 1 << 15  # up to here, every worker sends its whole array around the ring
GRACE_SECONDS = 1.0
UFUNCS: dict[str, np.ufunc] = {
    "SUM": np.add,
    "MEAN": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
}


class SocketWorkerGroup:
    """Workers that are connected in a ring, each with a monitor.

    All workers get results that are equal bit for bit: large arrays are reduced piece by piece,
    each piece by one worker; small ones by every worker in the order of ranks.

    Attributes:
        place: which collective of a function's call comes next, counted from 1; 0 if unknown.
    """

    def __init__(
        self, cluster: Cluster, links: Links, worker_timeout: float, timeout: float | None = None
    ) -> None:
        """Take over the connections of a rendezvous.

        Args:
            cluster: the workers.
            links: the connections.
            worker_timeout: after how many seconds of silence a worker counts as stopped.
            timeout: how many seconds a collective may wait for workers that are alive; None
                waits as long as they are.
        """
        assert links.left is not None
        assert links.right is not None
        self.cluster = cluster
        self.rank, self.size = cluster.rank, cluster.size
        self.timeout = timeout
        self.begun = 0
        self.call = ""
        self.program: list[str] = []
        self.place = 0
        self.sent_place = 0
        self.awaits_header = False
        self.lock = threading.Lock()
        self.process = os.getpid()
        neighbours = ((self.rank - 1) % self.size, (self.rank + 1) % self.size)
        self.ring = Ring(links.left, links.right, neighbours, self.check_wait)
        self.links = links
        self.monitor = Monitor(cluster, links.channels, worker_timeout, lambda: self.begun)
        self.failure: Failure | None = None
        self.wait_started = self.next_report = 0.0

    def all_reduce(self, arrays: Sequence[Array], op: str = "SUM") -> list[Array]:
        """Reduce each array over the workers; see `WorkerGroup`."""
        check_reduction(op)
        hosted = [np.asarray(array) for array in arrays]
        results: list[Any] = [None] * len(hosted)
        for bucket in make_buckets(hosted):
            members = [hosted[i] for i in bucket.members]
            call = f"all_reduce({describe_arrays(members)}, {op})"
            with self.collective(call):
                flat = self.reduce_flat(pack_bucket(bucket, hosted), UFUNCS[op])
            if op == "MEAN":
                flat = divide_by(flat, self.size)
            for i, part in zip(bucket.members, unpack_bucket(bucket, flat, hosted), strict=True):
                results[i] = part
        return results

    def all_gather(self, array: Array) -> list[Array]:
        """The arrays of all workers, in the order of ranks; see `WorkerGroup`."""
        own = np.asarray(array)
        with self.collective(f"all_gather({own.dtype} of rank {own.ndim})"):
            shapes = self.gather_blocks(np.array(own.shape, np.int64))
            blocks = self.gather_blocks(np.ascontiguousarray(own))
        return [
            block.view(own.dtype).reshape(shape.view(np.int64))
            for block, shape in zip(blocks, shapes, strict=True)
        ]

    def broadcast(self, array: Array, root: int = 0) -> Array:
        """The array of the worker `root`; see `WorkerGroup`."""
        check_root(root, self.size)
        own = np.asarray(array)
        with self.collective(f"broadcast({describe_arrays([own])}, root={root})"):
            result = np.ascontiguousarray(own).reshape(own.shape)
            if self.rank != root:
                result = np.empty(own.shape, own.dtype)
                self.receive(as_bytes(result))
            if (self.rank + 1) % self.size != root:
                self.ring.send(as_bytes(result))
            self.gather_blocks(np.empty(0, np.uint8))  # the root returns when all have begun
        return result

    def barrier(self, name: str) -> None:
        """Wait until every worker has called this with the same name."""
        with self.collective(f"barrier({name})"):
            self.gather_blocks(np.empty(0, np.uint8))

    def reduce_flat(self, own: Array, ufunc: np.ufunc) -> Array:
        """Reduce a flat array over the workers, without writing to it."""
        if own.nbytes <= SMALL_BYTES:
            blocks = self.gather_blocks(own)
            total = blocks[0].view(own.dtype).copy()
            for block in blocks[1:]:
                ufunc(total, block.view(own.dtype), out=total)
            return total
        return self.reduce_pieces(own, ufunc)

    def reduce_pieces(self, own: Array, ufunc: np.ufunc) -> Array:
        """Ring all-reduce: the pieces go round once to be reduced, and once to be collected."""
        n, ring = self.size, self.ring
        edges = [own.size * i // n for i in range(n + 1)]
        total = np.empty_like(own)
        pieces = [slice(edges[i], edges[i + 1]) for i in range(n)]
        outgoing = own[pieces[self.rank]]
        for step in range(1, n):
            piece = pieces[(self.rank - step) % n]
            ring.send(as_bytes(outgoing))
            self.receive(as_bytes(total[piece]))
            outgoing = ufunc(total[piece], own[piece], out=total[piece])
        for step in range(n - 1):
            ring.send(as_bytes(outgoing))
            outgoing = total[pieces[(self.rank - step) % n]]
            self.receive(as_bytes(outgoing))
        ring.flush()
        return total

    def gather_blocks(self, own: Array) -> list[Array]:
        """The bytes of all workers, in the order of ranks; the lengths may differ."""
        ring = self.ring
        blocks: list[Any] = [None] * self.size
        block = blocks[self.rank] = as_bytes(own)
        for step in range(1, self.size):
            ring.send(struct.pack("!Q", block.nbytes))
            ring.send(block)
            length = bytearray(8)
            self.receive(length)
            block = blocks[(self.rank - step) % self.size] = np.empty(
                struct.unpack("!Q", length)[0], np.uint8
            )
            self.receive(block)
        ring.flush()
        return blocks

    @contextmanager
    def collective(self, call: str) -> Iterator[None]:
        """Scope of one collective: all workers must call the same; a lost worker is an error."""
        with self.lock:
            self.raise_if_unusable()
            self.begun += 1
            self.call = call
            self.wait_started = time.monotonic()
            self.next_report = self.wait_started + REPORT_SECONDS
            try:
                self.send_header()
                yield
            except PeerLostError as lost:
                self.fail(self.explain_loss(lost.rank))
            except OpError:
                raise
            except BaseException as error:
                self.close(
                    f"it was interrupted in a collective by {type(error).__name__}: {error!s:.300}"
                )
                raise

    def receive(self, data: Any) -> None:
        """Fill a buffer of bytes from the left neighbour, after the header of its collective."""
        if self.awaits_header:
            self.awaits_header = False
            self.check_header()
        self.ring.receive(data)

    def announce(self, program: list[str]) -> None:
        """Send this list with the next collective; see `announce_collectives`."""
        self.program = program

    def send_header(self) -> None:
        """Tell the right neighbour which collective this is."""
        call, program = self.call.encode(), "\n".join(self.program).encode()
        self.sent_place, self.place = self.place, 0
        facts = MARK, self.begun, self.sent_place, len(call), len(program)
        self.ring.send(HEADER.pack(*facts) + call + program)
        self.awaits_header = True

    def check_header(self) -> None:
        """Compare the collective that the left neighbour has begun with this worker's."""
        received = bytearray(HEADER.size)
        self.ring.receive(received)
        mark, number, place, *lengths = HEADER.unpack(received)
        if mark != MARK:
            lengths = [0, 0]
        texts = [bytearray(length) for length in lengths]
        for text in texts:
            self.ring.receive(text)
        call, program = (text.decode(errors="replace") for text in texts)
        left = self.ring.left_rank
        own, self.program = self.program, []
        if own and program and not are_same_programs(own, program.split("\n")):
            difference = describe_difference(own, program.split("\n"), self.rank, left)
        elif (mark, number, call) != (MARK, self.begun, self.call):
            difference = (
                f"collective {self.begun} of worker {self.rank} is {shorten(self.call)}; "
                f"collective {number} of worker {left} is {shorten(call)}"
            )
        elif place and self.sent_place and place != self.sent_place:
            difference = (
                f"{shorten(self.call)} is collective {self.sent_place} of a function's call on "
                f"worker {self.rank} and collective {place} on worker {left}"
            )
        else:
            return
        self.fail(
            Failure(
                "mismatch",
                "tf.distribute: all workers must call the same collectives in the same order. "
                f"Received: {difference}. Do not let the program depend on the worker where it "
                "trains.",
            )
        )

    def check_wait(self, stalled: float) -> None:
        """Called while a collective waits: raise if it waits in vain, report whom it waits for.

        Args:
            stalled: the number of seconds since bytes arrived.
        """
        monitor = self.monitor
        if monitor.failure is not None:
            self.fail(monitor.failure)
        now = time.monotonic()
        waited = now - self.wait_started
        if self.timeout is not None and waited > self.timeout:
            late = monitor.find_late_workers(self.begun)
            names = self.cluster.names(late) if late else "another worker"
            self.fail(
                Failure(
                    "deadline",
                    f"tf.distribute: {shorten(self.call)} must end within {self.timeout:g} s "
                    f"(CommunicationOptions.timeout_seconds). Still missing: {names}.",
                )
            )
        if monitor.departed and stalled > GRACE_SECONDS:
            departure = monitor.explain_departure()
            assert departure is not None
            self.fail(departure)
        if now > self.next_report:
            self.next_report = now + REPORT_SECONDS
            late = monitor.find_late_workers(self.begun)
            if late:
                get_log().warning(
                    "tf.distribute: worker %d has waited %.0f s for %s in %s.",
                    self.rank,
                    waited,
                    self.cluster.names(late),
                    shorten(self.call),
                )

    def explain_loss(self, rank: int) -> Failure:
        """Why a neighbour closed its connection; a failure that it reported has precedence."""
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline:
            if self.monitor.failure is not None:
                return self.monitor.failure
            departure = self.monitor.explain_departure()
            if departure is not None:
                return departure
            time.sleep(0.01)
        self.monitor.departed.setdefault(rank, ENDED)
        departure = self.monitor.explain_departure()
        assert departure is not None
        return departure

    def raise_if_unusable(self) -> None:
        """Raise the error of the group if a collective could not succeed any more."""
        failure = self.failure or self.monitor.failure or self.monitor.explain_departure()
        if failure is not None:
            self.fail(failure)

    def fail(self, failure: Failure) -> NoReturn:
        """Tell the other workers of a failure, close the ring, and raise its error."""
        if self.failure is None:
            self.failure = failure
            self.monitor.note_failure(failure)
            self.ring.close()
        raise self.failure.to_error()

    @property
    def is_usable(self) -> bool:
        """Whether collectives may still succeed in this process."""
        monitor = self.monitor
        return self.process == os.getpid() and not (
            self.failure or monitor.failure or monitor.departed or monitor.is_closed
        )

    def close(self, reason: str) -> None:
        """Leave the group; the other workers learn the reason."""
        if self.failure is None:
            self.failure = Failure(
                "unavailable", f"tf.distribute: worker {self.rank} has left the group: {reason}."
            )
        self.monitor.leave(reason)
        self.ring.close()
        self.links.close()

    def forget(self) -> None:
        """Close the connections of a forked process without a word: they are its parent's."""
        self.links.close()


def as_bytes(array: Array) -> Array:
    """The memory of a contiguous array as a flat array of bytes."""
    return array.reshape(-1).view(np.uint8)


def divide_by(total: Array, count: int) -> Array:
    """The mean of `count` summands; integers are rounded toward zero, as TensorFlow does."""
    if total.dtype.kind in "iu":
        return (total / count).astype(total.dtype)
    return np.divide(total, count, out=total)


def describe_arrays(arrays: Sequence[Array]) -> str:
    """Dtypes and shapes, as messages show them."""
    return ", ".join([describe_spec(array.dtype, array.shape) for array in arrays])


@lru_cache(4096)
def describe_spec(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """A dtype and a shape; NumPy takes 20 µs for the name of a dtype."""
    return f"{dtype}{list(shape)}"


def shorten(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= 300 else text[:300] + " …"
