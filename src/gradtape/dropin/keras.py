"""The real Keras, on gradtape: which versions, and where its public names are."""

from __future__ import annotations

import importlib
import sys
from importlib import metadata
from types import ModuleType

PUBLIC = "keras._tf_keras.keras"  # what `tf.keras` is
FROM, BEFORE = (3, 15), (3, 16)


def is_loading() -> bool:
    """Whether Keras has been asked for in this process."""
    return "keras" in sys.modules


def check_version() -> None:
    """Raise ImportError unless a Keras that is known to run is installed."""
    wanted = f"keras>={dotted(FROM)},<{dotted(BEFORE)}"
    try:
        version = metadata.version("keras")
    except metadata.PackageNotFoundError:
        raise ImportError(
            f"tf.keras: Keras is not installed. `pip install gradtape[keras]` brings {wanted}.",
            name="keras",
        ) from None
    if not FROM <= tuple(int(n) for n in version.split(".")[:2]) < BEFORE:
        raise ImportError(
            f"tf.keras: gradtape runs {wanted}. Found {version}. "
            "`pip install gradtape[keras]` brings the right one.",
            name="keras",
        )


def dotted(version: tuple[int, ...]) -> str:
    """A version as text."""
    return ".".join(str(n) for n in version)


def module() -> ModuleType:
    """`tf.keras`; gradtape must be installed in TensorFlow's place.

    Raises:
        ImportError: if Keras is missing, of another version, or runs on another backend.
    """
    check_version()
    found = importlib.import_module(PUBLIC)
    backend = importlib.import_module("keras").config.backend()
    if backend != "tensorflow":
        raise ImportError(
            f"tf.keras: Keras runs on its backend {backend!r}. "
            "Set KERAS_BACKEND=tensorflow, which gradtape stands in for.",
            name="keras",
        )
    return found
