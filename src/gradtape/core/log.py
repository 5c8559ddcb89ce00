"""The logger of gradtape; `logging` is imported by the first message, as few programs have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def get_log() -> Logger:
    """The logger named "gradtape"."""
    import logging

    return logging.getLogger("gradtape")
