"""The ring: every worker sends bytes to its right neighbour and receives from its left one."""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from gradtape.compile.collective.failure import PeerLostError

POLL_MILLISECONDS = 250
SEND_BYTES = 1 << 20


class Ring:
    """The two connections of a worker, on which it sends and receives at the same time."""

    def __init__(
        self,
        left: socket.socket,
        right: socket.socket,
        ranks: tuple[int, int],
        check_wait: Callable[[float], None],
    ) -> None:
        """Take over non-blocking connections.

        Args:
            left: where to receive.
            right: where to send.
            ranks: the ranks of the left and the right neighbour.
            check_wait: called while nothing moves, with the number of seconds since something
                moved; raises an error to end the wait.
        """
        self.left, self.right = left, right
        self.left_rank, self.right_rank = ranks
        self.check_wait = check_wait
        self.outbound: deque[memoryview] = deque()
        self.receiving, self.sending, self.both = select.poll(), select.poll(), select.poll()
        for poll in (self.receiving, self.both):
            poll.register(left, select.POLLIN)
        for poll in (self.sending, self.both):
            poll.register(right, select.POLLOUT)

    def send(self, data: Any) -> None:
        """Send bytes, in the background of `receive` and `flush`."""
        view = memoryview(data)
        if view.nbytes:
            self.outbound.append(view)

    def receive(self, data: Any) -> None:
        """Fill a buffer of bytes from the left."""
        view = memoryview(data)
        got, size = 0, view.nbytes
        while got < size:
            has_moved = bool(self.outbound) and self.send_some()
            try:
                count = self.left.recv_into(view[got:])
            except BlockingIOError:
                if not has_moved:
                    self.wait(self.both if self.outbound else self.receiving)
                continue
            except OSError as error:
                raise PeerLostError(self.left_rank) from error
            if not count:
                raise PeerLostError(self.left_rank)
            got += count

    def flush(self) -> None:
        """Wait until all bytes are handed to the system."""
        while self.outbound:
            if not self.send_some():
                self.wait(self.sending)

    def send_some(self) -> bool:
        """Send what the connection takes now; False if it takes nothing."""
        view = self.outbound[0]
        try:
            count = self.right.send(view[:SEND_BYTES])
        except BlockingIOError:
            return False
        except OSError as error:
            raise PeerLostError(self.right_rank) from error
        if count < view.nbytes:
            self.outbound[0] = view[count:]
        else:
            self.outbound.popleft()
        return True

    def wait(self, poll: select.poll) -> None:
        """Wait until one of the connections is ready."""
        if poll.poll(POLL_MILLISECONDS):
            return
        started = time.monotonic()
        while not poll.poll(POLL_MILLISECONDS):
            self.check_wait(time.monotonic() - started)

    def close(self) -> None:
        """Close both connections; the neighbours notice it."""
        self.outbound.clear()
        self.left.close()
        self.right.close()
