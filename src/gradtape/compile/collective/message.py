"""Messages between workers: small JSON objects, each preceded by its length."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Any

LENGTH = struct.Struct("!I")
LARGEST_MESSAGE = 1 << 20
SEND_SECONDS = 5.0

Message = dict[str, Any]


class ConnectionEndedError(Exception):
    """The other side closed the connection, or sent something that is not a message."""


class Channel:
    """A connection that carries messages; any thread may send, one thread receives."""

    def __init__(self, connection: socket.socket) -> None:
        """Take over a connected socket."""
        self.socket = connection
        connection.settimeout(SEND_SECONDS)
        self.lock = threading.Lock()
        self.received = bytearray()

    def send(self, message: Message) -> bool:
        """Send a message; False if the connection is gone."""
        text = json.dumps(message).encode()
        try:
            with self.lock:
                self.socket.sendall(LENGTH.pack(len(text)) + text)
        except OSError:
            return False
        return True

    def read(self) -> list[Message]:
        """The messages that have arrived; call it when the socket is readable.

        Raises:
            ConnectionEndedError: if the connection is closed and no message is left.
        """
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            return []
        except OSError as error:
            raise ConnectionEndedError(str(error)) from error
        self.received += data
        messages = self.take_messages()
        if not data and not messages:
            raise ConnectionEndedError("closed")
        return messages

    def take_messages(self) -> list[Message]:
        """Remove whole messages from the bytes received, and return them."""
        messages = []
        while len(self.received) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.received)
            end = LENGTH.size + length
            if length > LARGEST_MESSAGE:
                raise ConnectionEndedError("not a message")
            if len(self.received) < end:
                break
            messages.append(parse_message(bytes(self.received[LENGTH.size : end])))
            del self.received[:end]
        return messages

    def wait_for(self, seconds: float) -> list[Message]:
        """The messages that arrive within `seconds`; empty if none does."""
        deadline = time.monotonic() + seconds
        while not (messages := self.take_messages()):
            left = deadline - time.monotonic()
            if left <= 0 or not wait_readable([self.socket], left):
                return []
            messages = self.read()
            if messages:
                return messages
        return messages

    def read_first(self) -> Message:
        """The first message, without a byte of what follows it; empty if it does not come."""
        try:
            (length,) = LENGTH.unpack(self.read_exactly(LENGTH.size))
            if length <= LARGEST_MESSAGE:
                return parse_message(self.read_exactly(length))
        except (OSError, ConnectionEndedError):
            pass
        return {}

    def read_exactly(self, size: int) -> bytes:
        """This many bytes of the connection."""
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionEndedError("closed")
            data += part
        return data

    def close(self) -> None:
        """Close the connection."""
        with suppress(OSError):
            self.socket.close()


def parse_message(text: bytes) -> Message:
    """The message of a JSON text."""
    try:
        message = json.loads(text)
    except ValueError as error:
        raise ConnectionEndedError("not a message") from error
    if not isinstance(message, dict):
        raise ConnectionEndedError("not a message")
    return message


def wait_readable(sockets: list[socket.socket], seconds: float) -> list[socket.socket]:
    """Those of `sockets` that become readable within `seconds`."""
    poll = select.poll()
    by_number = {connection.fileno(): connection for connection in sockets}
    for number in by_number:
        if number >= 0:
            poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(max(0, seconds) * 1000)]
