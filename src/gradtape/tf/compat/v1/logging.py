"""tf.compat.v1.logging: the logger of `tf.get_logger()`."""

from __future__ import annotations

import logging as python
from typing import Any

from gradtape.tf.framework import get_logger

DEBUG, INFO, WARN, ERROR, FATAL = (
    python.DEBUG,
    python.INFO,
    python.WARNING,
    python.ERROR,
    python.CRITICAL,
)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Say something of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Say what helps to find faults."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Say what goes on."""
    log(INFO, msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Say what looks wrong."""
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Say what is wrong."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Say why it cannot go on."""
    log(FATAL, msg, *args, **kwargs)


def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Say something of a level."""
    log(level, msg, *args, **kwargs)


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Say something if a condition holds."""
    if condition:
        log(level, msg, *args)


def set_verbosity(v: Any) -> None:
    """Say what is of this level or above."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The level from which on things are said."""
    return get_logger().getEffectiveLevel()


def flush() -> None:
    """Nothing is held back."""
