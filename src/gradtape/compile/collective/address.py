"""Addresses of workers: parsing, listening, and connecting within one host."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from gradtape.core.errors import InvalidArgumentError, UnavailableError
from gradtape.core.log import get_log

SOCKET_BUFFER_BYTES = 4 << 20  # a larger buffer lets a worker send while its neighbour computes


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """The address that `host:port` or `[ipv6]:port` names; a prefix `grpc://` is ignored."""
    host, colon, port = text.removeprefix("grpc://").rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise InvalidArgumentError(
            f"tf.distribute: the address of a worker must be host:port. Received {text!r}."
        )
    return Address(host.strip("[]"), int(port))


def open_listener(address: Address) -> socket.socket:
    """Listen at the address of this worker, or at all of its host's if it has no such interface."""
    try:
        return bind_listener(address)
    except OSError as error:
        if error.errno not in (99, 49):  # EADDRNOTAVAIL of Linux and of macOS
            raise UnavailableError(
                f"tf.distribute: a worker must be able to listen at its address {address}. "
                f"Received {error}. Does another process use the port?"
            ) from error
    get_log().warning(
        "tf.distribute: no interface of this host has the address %s; the worker listens at "
        "port %d of all interfaces.",
        address.host,
        address.port,
    )
    return bind_listener(Address("", address.port))


def bind_listener(address: Address) -> socket.socket:
    """Listen at one address, of IPv4 or IPv6."""
    host = address.host or None
    family, _, _, _, where = socket.getaddrinfo(
        host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server((where[0], where[1]), family=family, backlog=128)


def open_local_listener() -> tuple[socket.socket | None, str]:
    """Listen for workers of the same host; returns the socket and its abstract name.

    Local sockets carry twice the bytes per second of TCP on the loopback interface. Abstract names
    exist on Linux only; elsewhere there is no socket and the name is empty.
    """
    name = f"gradtape-{secrets.token_hex(12)}"
    listener = None
    if not describe_host():
        return None, ""
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind("\0" + name)
        listener.listen(4)
    except OSError:
        if listener is not None:
            listener.close()
        return None, ""
    return listener, name


def describe_host() -> str:
    """A text that is equal for processes of one host and network namespace; empty if unknown."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/net')}"
    return ""


def tune_socket(connection: socket.socket) -> socket.socket:
    """Set the options of a connection that carries arrays; returns it."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, option, SOCKET_BUFFER_BYTES)
    disable_delay(connection)
    connection.setblocking(False)
    return connection


def disable_delay(connection: socket.socket) -> None:
    """Send small messages at once, and notice a host that vanished."""
    if connection.family == getattr(socket, "AF_UNIX", None):
        return
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def choose_ports(count: int) -> list[int]:
    """Ports of this host that are free now, below the range that the system gives to clients."""
    ports: list[int] = []
    while len(ports) < count:
        port = 20000 + secrets.randbelow(12000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            if port not in ports:
                ports.append(port)
    return ports
