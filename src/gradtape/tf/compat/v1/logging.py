"""tf.compat.v1.logging: functions that log to `tf.get_logger()`."""

from __future__ import annotations

import logging as python
from collections import Counter
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
    """Log a message at a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message at level DEBUG."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message at level INFO."""
    log(INFO, msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message at level WARN."""
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message at level ERROR."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message at level FATAL."""
    log(FATAL, msg, *args, **kwargs)


def vlog(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Log a message at a level."""
    log(level, msg, *args, **kwargs)


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Log a message if `condition` is true."""
    if condition:
        log(level, msg, *args)


def set_verbosity(v: Any) -> None:
    """Set the lowest level that is logged."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The lowest level that is logged."""
    return get_logger().getEffectiveLevel()


def flush() -> None:
    """Do nothing: messages are not buffered."""


def TaskLevelStatusMessage(msg: str) -> None:  # noqa: N802  TensorFlow's name
    """Log a message about the state of the program, at level ERROR."""
    error(msg)


MESSAGE_COUNTS: Counter[str] = Counter()


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first and then every n-th call with this message."""
    MESSAGE_COUNTS[msg] += 1
    log_if(level, msg, (MESSAGE_COUNTS[msg] - 1) % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Log the first n calls with this message."""
    MESSAGE_COUNTS[msg] += 1
    log_if(level, msg, MESSAGE_COUNTS[msg] <= n, *args)
