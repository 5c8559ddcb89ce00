"""Whether JAX can run, and calls of JAX that the settings of other programs do not break."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from gradtape.core.interruption import is_from_signal_handler

# Settings of JAX that make calls fail.
STRICT_SETTINGS = (
    "jax_debug_infs",
    "jax_debug_nans",
    "jax_transfer_guard",
    "jax_transfer_guard_device_to_device",
    "jax_transfer_guard_device_to_host",
    "jax_transfer_guard_host_to_device",
)


class JaxState:
    """What is known about JAX in this process.

    Attributes:
        failure: why JAX cannot run; "" if it can, None before the first attempt.
    """

    failure: ClassVar[str | None] = None


def why_jax_cannot_run() -> str:
    """Why JAX cannot run although it is installed; "" if it can. The first call imports it."""
    if JaxState.failure is None:
        JaxState.failure = try_jax()
    return JaxState.failure


def try_jax() -> str:
    """Import JAX and start its devices; return what went wrong, or ""."""
    try:
        import jax
        import jax.numpy

        jax.local_devices()
    except (Exception, SystemExit) as error:
        if is_from_signal_handler(error):
            raise
        platforms = os.environ.get("JAX_PLATFORMS")
        return summarize_error(error) + (f", with JAX_PLATFORMS={platforms}" if platforms else "")
    return ""


def why_xla_is_off() -> str:
    """Why JAX does not compile at the moment; "" if it does."""
    import jax

    return "jax_disable_jit is set" if jax.config.jax_disable_jit else ""


def summarize_error(error: BaseException) -> str:
    """The class and the first line of the message of an error."""
    text = str(error).strip().partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def call_again(error: Exception, function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Repeat a call of JAX that failed, without checks that the program set for its own arrays.

    Changing settings costs more than a small program, so it is done only after a failure.
    """
    import jax

    if is_from_signal_handler(error) or not any(
        getattr(jax.config, s, None) for s in STRICT_SETTINGS
    ):
        raise error
    with jax.transfer_guard("allow"), jax.debug_nans(False), jax.debug_infs(False):
        return function(*args)


def release_compiler_memory() -> None:
    """Return memory that XLA's compiler freed to the system: about 100 MB for a training step."""
    trim = find_malloc_trim()
    if trim is not None:
        trim(0)


@functools.cache
def find_malloc_trim() -> Callable[[int], int] | None:
    """The function of the GNU C library that returns free memory; None elsewhere."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not Linux, or another C library
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim
