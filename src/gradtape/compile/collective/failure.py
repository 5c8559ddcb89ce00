"""Failures of a group of workers: what happened, and which error users get."""

from __future__ import annotations

from typing import NamedTuple

from gradtape.core.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    OpError,
    UnavailableError,
)

ERRORS: dict[str, type[OpError]] = {
    "unavailable": UnavailableError,
    "deadline": DeadlineExceededError,
    "mismatch": InvalidArgumentError,
}


class Failure(NamedTuple):
    """Why a group of workers cannot go on."""

    kind: str
    message: str

    def to_error(self) -> OpError:
        """The error that a collective raises."""
        return ERRORS.get(self.kind, UnavailableError)(self.message)


class PeerLostError(Exception):
    """The connection to a neighbour in the ring ended."""

    def __init__(self, rank: int) -> None:
        """Name the neighbour."""
        super().__init__(rank)
        self.rank = rank
