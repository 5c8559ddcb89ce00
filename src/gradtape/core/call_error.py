"""Errors of public calls: names the op and its arguments, and replaces errors of other classes.

`public` calls `as_call_error` when a call has failed, so nothing here costs time while calls
succeed. Errors that the user's code raises stay as they are.
"""

from __future__ import annotations

import dis
import inspect
import os
import re
import reprlib
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import errors
from gradtape.core.errors import InternalError, OpError, ResourceExhaustedError
from gradtape.core.nest import find_nesting_problem
from gradtape.core.symbolic_tensor import is_leaked, out_of_scope_error
from gradtape.core.traceback_filter import GENERATED_PREFIX

_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep
_CALLED = (os.path.dirname(np.__file__) + os.sep, GENERATED_PREFIX, "<frozen ", "<__array_")
_PACKAGES = frozenset(
    {"numpy", "scipy", "ml_dtypes", "PIL", "google", "google_crc32c", "jax", "jaxlib"}
)
# Packages whose errors a call may raise.
CALLED_PACKAGES = _PACKAGES | {"gradtape", "tensorflow", "builtins"}
_RAISE = dis.opmap["RAISE_VARARGS"]

# "op: what must hold", "cannot compute Mul as input #1", "Value for attr 'T'"
_NAMED = re.compile(r"[`'\"]?[A-Za-z_][\w.]*[`'\"]?(\(\))?: |cannot compute \w+ as |.*\battr '\w+'")
_USUAL = (OpError, TypeError, ValueError, NotImplementedError, RuntimeError)
_KEPT = (*_USUAL, OSError, StopIteration, StopAsyncIteration, ImportError, Warning)
_MOST_ARGUMENTS = 6


class ErrorOrigin(NamedTuple):
    """What is known about an error before its message names a call."""

    message: str
    deliberate: bool  # whether a `raise` statement of this library raised it


def as_call_error(error: Exception, fn: Any, args: tuple[Any, ...], kwargs: Any) -> Exception:
    """The error to raise for a public call that raised `error`; mostly the same object."""
    if has_user_frames(error.__traceback__):
        return error
    leaked = find_leaked_tensor((*args, *kwargs.values()))
    if leaked is not None:
        return out_of_scope_error(leaked)
    if is_call_mismatch(error, fn):
        set_message(error, re.sub(r"^[\w.<>]+\(\)", f"{op_name_of(fn, args)}()", str(error)))
        return error
    origin = origin_of(error)
    if isinstance(error, RecursionError):
        return as_nesting_error(error, fn, args, kwargs)
    if needs_other_class(error, origin):
        error, cause = replacement_of(error), error
        error.__cause__ = None if isinstance(cause, MemoryError) else cause
        error.__suppress_context__ = True
        if isinstance(error, InternalError):
            origin = origin._replace(message=error.message)
    if isinstance(error, _USUAL):
        name_call(error, origin, fn, args, kwargs)
    return error


def find_leaked_tensor(arguments: Iterable[Any]) -> Any:
    """The first argument, or element of one, that is a tensor of a trace that has ended."""
    for value in arguments:
        elements = value if isinstance(value, (list, tuple)) else (value,)
        leaked = next(filter(is_leaked, elements), None)
        if leaked is not None:
            return leaked
    return None


def has_user_frames(traceback: TracebackType | None) -> bool:
    """Whether a traceback has frames that belong neither to this library nor to what it calls."""
    while traceback is not None:
        if not is_library_code(traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def is_library_code(frame: Any) -> bool:
    """Whether a frame belongs to this library, to Python, or to a package that this one calls."""
    name = frame.f_code.co_filename
    if name.startswith((_LIBRARY, *_CALLED)):
        return True
    if name.startswith(_PYTHON) and not re.search("(site|dist)-packages", name):
        return True
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _PACKAGES


def locate_caller() -> str:
    """The file and line of the user's code that called this library: `train.py, line 12`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_library_code(frame):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def hide_internal_cause(error: Exception) -> None:
    """Do not show errors behind `error` that this library raised and caught."""
    behind = error.__cause__ or error.__context__
    if behind is None or has_user_frames(behind.__traceback__):
        return
    while behind is not None and not has_user_frames(behind.__traceback__):
        behind = behind.__cause__ or behind.__context__
    error.__cause__, error.__context__ = None, behind
    error.__suppress_context__ = behind is None


def is_call_mismatch(error: Exception, fn: Any) -> bool:
    """Whether the arguments do not fit the signature: Python's message says it all."""
    if not isinstance(error, TypeError):
        return False
    entry = error.__traceback__
    if entry is not None and entry.tb_next is None:
        return entry.tb_frame.f_code.co_filename == errors.__file__
    name = getattr(fn, "__name__", None)
    return bool(re.match(rf"{name}\(\) (got|missing|takes) ", str(error)))


def origin_of(error: Exception) -> ErrorOrigin:
    """The message and the kind of an error when it was first seen."""
    origin = getattr(error, "_origin", None)
    if not isinstance(origin, ErrorOrigin):
        origin = ErrorOrigin(str(error), is_deliberate(error))
        error._origin = origin  # type: ignore[attr-defined]
    return origin


def is_deliberate(error: Exception) -> bool:
    """Whether a `raise` statement of this library raised `error`."""
    traceback = error.__traceback__
    if traceback is None or (isinstance(error, AssertionError) and not error.args):
        return False  # an `assert` statement
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    ours = code.co_filename.startswith((_LIBRARY, GENERATED_PREFIX))
    return ours and code.co_code[traceback.tb_lasti] == _RAISE


def needs_other_class(error: Exception, origin: ErrorOrigin) -> bool:
    """Whether users would take the class of an error for a mistake of the library."""
    if isinstance(error, MemoryError):
        return True
    package = type(error).__module__.partition(".")[0]
    if package not in CALLED_PACKAGES and package not in sys.stdlib_module_names:
        return False  # a class of the user's: another thread has raised it in this one
    foreign = package not in ("builtins", "gradtape", "tensorflow")
    usual = isinstance(error, _KEPT) and not isinstance(error, UnicodeError)
    return (foreign or not usual) and not origin.deliberate


def replacement_of(error: Exception) -> Exception:
    """An error of the class that TensorFlow raises for wrong arguments."""
    if isinstance(error, MemoryError):
        return ResourceExhaustedError(str(error))
    if isinstance(error, NameError):  # no argument can cause it
        return InternalError(f"{error}. This is a bug in gradtape; please report it")
    if isinstance(error, (TypeError, AttributeError)):
        return TypeError(str(error))
    return ValueError(str(error))


def name_call(error: Exception, origin: ErrorOrigin, fn: Any, args: Any, kwargs: Any) -> None:
    """Name the op and its arguments in the message of `error`, if it names neither."""
    op = op_name_of(fn, args)
    error._origin = origin  # type: ignore[attr-defined]
    if origin.deliberate and names_op(origin.message, op):
        return
    text = origin.message.strip().removeprefix(f"{op}: ")
    if not (origin.deliberate and "eceived" in text):
        end = "" if text.endswith((".", "!", "?")) else "."
        text += end + describe_arguments(bind_arguments(fn, args, kwargs))
    set_message(error, f"{op}: {text}")


def set_message(error: Exception, message: str) -> None:
    """Replace the message of an error."""
    if isinstance(error, OpError):
        error._message = message
    else:
        error.args = (message,)


def names_op(message: str, op: str) -> bool:
    """Whether a message names an op."""
    return bool(_NAMED.match(message)) or op in re.findall(r"\w+", message)


def op_name_of(fn: Any, args: tuple[Any, ...]) -> str:
    """The name of a public function, or of the class whose constructor it is."""
    name = getattr(fn, "__name__", type(fn).__name__)
    return type(args[0]).__name__ if name in ("__init__", "__new__") and args else name


def bind_arguments(fn: Any, args: tuple[Any, ...], kwargs: Any) -> list[tuple[str, Any]]:
    """The first arguments of a call with their names."""
    try:
        bound = inspect.signature(fn).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {f"argument {i}": value for i, value in enumerate(args)} | kwargs
    named = [(name, value) for name, value in bound.items() if name not in ("self", "cls")]
    return named[:_MOST_ARGUMENTS]


def describe_arguments(arguments: list[tuple[str, Any]]) -> str:
    """A sentence about the arguments of a call."""
    shown = ", ".join(f"{name}={describe_value(value)}" for name, value in arguments)
    return f" Received {shown}." if shown else ""


class ArgumentRepr(reprlib.Repr):
    """Short descriptions; the same for integers that Python refuses to convert to text."""

    def repr_int(self, x: int, level: int) -> str:
        """The digits of an integer, shortened; its type if there are thousands of them."""
        return "<int>" if x.bit_length() > LONGEST_INTEGER else super().repr_int(x, level)


LONGEST_INTEGER = 10_000  # bits of an integer that Python converts to text by default
_reprs = ArgumentRepr()
_reprs.maxlevel, _reprs.maxother, _reprs.maxstring = 3, 60, 60


def describe_value(value: Any) -> str:
    """A short description of an argument: shape and dtype of arrays, else its start."""
    try:
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if shape is not None and dtype is not None and not isinstance(value, type):
            dtype = getattr(dtype, "name", dtype)
            return f"<{type(value).__name__} shape={shape} dtype={dtype}>"
        return _reprs.repr(value)
    except Exception:  # the description must not hide the error
        return f"<{type(value).__name__}>"


def as_nesting_error(error: RecursionError, fn: Any, args: Any, kwargs: Any) -> Exception:
    """A ValueError if an argument contains itself or is nested too deeply, else `error`."""
    op = op_name_of(fn, args)
    for name, value in bind_arguments(fn, args, kwargs):
        problem = find_nesting_problem(value)
        if problem is not None:
            other = ValueError(f"{op}: {name} {problem}. Pass a list of finite depth.")
            other.__cause__ = error
            other._origin = ErrorOrigin(str(other), True)  # type: ignore[attr-defined]
            return other
    return error
