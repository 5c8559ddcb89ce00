"""Errors while tracing."""

from __future__ import annotations

from gradtape.core.errors import InvalidArgumentError


class ShapeError(InvalidArgumentError, ValueError):
    """An op fails while tracing; users see it as an InvalidArgumentError."""


ShapeError.__name__ = ShapeError.__qualname__ = InvalidArgumentError.__name__
ShapeError.__module__ = InvalidArgumentError.__module__


class OpenSizesFailed(Exception):  # noqa: N818  not an error
    """An op failed in a trace of unknown sizes: trace again for the sizes of the call."""


def as_shape_error(error: InvalidArgumentError) -> Exception:
    """An error while tracing, as both classes: TensorFlow's for tracing and that for execution."""
    if isinstance(error, ValueError):
        return error
    made = ShapeError(str(error)).with_traceback(error.__traceback__)
    if hasattr(error, "_origin"):
        made._origin = error._origin  # type: ignore[attr-defined]
    return made
