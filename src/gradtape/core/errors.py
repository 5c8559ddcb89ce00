"""TensorFlow's exception tree, and the decorator of public functions that raises it.

Exception
├── OpError                        base of what an op raises; has an `error_code`
│   ├── CancelledError             1   the operation was cancelled
│   ├── UnknownError               2   an unknown error
│   ├── InvalidArgumentError       3   an argument's value, shape or dtype is wrong
│   ├── DeadlineExceededError      4   it took too long
│   ├── NotFoundError              5   a file or resource is missing
│   ├── AlreadyExistsError         6   a file or resource exists already
│   ├── PermissionDeniedError      7   the caller may not do this
│   ├── ResourceExhaustedError     8   out of memory, disk or quota
│   ├── FailedPreconditionError    9   the state does not allow it, such as an unset variable
│   ├── AbortedError              10   aborted, usually because of a concurrent action
│   ├── OutOfRangeError           11   past the end, such as of a dataset
│   ├── UnimplementedError        12   not implemented for these arguments
│   ├── InternalError             13   a bug of this library
│   ├── UnavailableError          14   try again later
│   ├── DataLossError             15   bytes are missing or corrupt
│   └── UnauthenticatedError      16   no valid credentials
└── TypeError
    └── OperatorNotAllowedInGraphError   Python asked for a symbolic tensor's value
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, NoReturn, ParamSpec, TypeVar

from gradtape.core.ports import RaggedPort, UserTypePort
from gradtape.core.traceback_filter import hide_library_frames

P = ParamSpec("P")
R = TypeVar("R")

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """Base class of the errors that ops raise.

    Takes TensorFlow's arguments, `OpError(node_def, op, message, error_code)` and
    `InvalidArgumentError(node_def, op, message)`, or the message alone.
    """

    _code: ClassVar[int | None] = None

    def __init_subclass__(cls, code: int | None = None, **kwargs: Any) -> None:
        """Set the error code of the subclass."""
        super().__init_subclass__(**kwargs)
        if code is not None:
            cls._code = code

    def __init__(
        self,
        node_def: Any = None,
        op: Any = None,
        message: str | None = None,
        *details: Any,
        error_code: int | None = None,
    ) -> None:
        """Store the arguments; `details` are the code of a bare OpError and a dict of payloads."""
        super().__init__()
        if message is None:
            node_def, message = None, node_def
        code = self._code if error_code is None else error_code
        if code is None:
            code, *details = details or (UNKNOWN,)  # type: ignore[assignment]
        self._node_def = node_def
        self._op = op
        self._message: str = message
        self._error_code = code
        self._payloads: Mapping[Any, Any] = details[0] if details else {}

    @property
    def node_def(self) -> Any:
        """The description of the op that failed, if known."""
        return self._node_def

    @property
    def op(self) -> Any:
        """The operation that failed; None in eager execution."""
        return self._op

    @property
    def message(self) -> str:
        """The error message."""
        return self._message

    @property
    def error_code(self) -> int:
        """One of the codes of this module, such as `INVALID_ARGUMENT`."""
        return self._error_code

    @property
    def experimental_payloads(self) -> Mapping[Any, Any]:
        """Details about the error."""
        return self._payloads

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        code = (self._error_code,) if self._code is None else ()
        return type(self), (self._node_def, self._op, self._message, *code, self._payloads)


class CancelledError(OpError, code=CANCELLED):
    """An operation was cancelled."""


class UnknownError(OpError, code=UNKNOWN):
    """An error of unknown cause."""


class InvalidArgumentError(OpError, code=INVALID_ARGUMENT):
    """An argument has a value, shape or dtype that the operation does not take."""


class DeadlineExceededError(OpError, code=DEADLINE_EXCEEDED):
    """An operation did not finish in time."""


class NotFoundError(OpError, code=NOT_FOUND):
    """A file or another resource is missing."""


class AlreadyExistsError(OpError, code=ALREADY_EXISTS):
    """A file or another resource that should be created exists already."""


class PermissionDeniedError(OpError, code=PERMISSION_DENIED):
    """The caller may not do this."""


class ResourceExhaustedError(OpError, code=RESOURCE_EXHAUSTED):
    """Memory, disk or another resource is used up."""


class FailedPreconditionError(OpError, code=FAILED_PRECONDITION):
    """The state of the system does not allow the operation."""


class AbortedError(OpError, code=ABORTED):
    """An operation was aborted, usually because of a concurrent one."""


class OutOfRangeError(OpError, code=OUT_OF_RANGE):
    """An operation went past the end, such as an iterator after its last element."""


class UnimplementedError(OpError, code=UNIMPLEMENTED):
    """An operation is not implemented for these arguments."""


class InternalError(OpError, code=INTERNAL):
    """An invariant of the library is broken."""


class UnavailableError(OpError, code=UNAVAILABLE):
    """The runtime is not available now."""


class DataLossError(OpError, code=DATA_LOSS):
    """Data is missing or corrupt, and cannot be recovered."""


class UnauthenticatedError(OpError, code=UNAUTHENTICATED):
    """The request has no valid credentials."""


# Graphs and datasets raise these in place of Python's exceptions.
OP_ERROR_TYPES: dict[type[Exception], type[OpError]] = {
    ValueError: InvalidArgumentError,
    TypeError: InvalidArgumentError,
    StopIteration: OutOfRangeError,
    MemoryError: ResourceExhaustedError,
    NotImplementedError: UnimplementedError,
}


def as_op_error(op: str, error: Exception) -> OpError:
    """The OpError that a graph or dataset raises for an exception of the user's function.

    An exception of a signal handler is raised unchanged.
    """
    from gradtape.core.interruption import is_from_signal_handler

    if is_from_signal_handler(error):
        raise error
    kind = next(
        (k for raised, k in OP_ERROR_TYPES.items() if isinstance(error, raised)), UnknownError
    )
    return kind(f"{op}: {type(error).__name__}: {error}")


class OperatorNotAllowedInGraphError(TypeError):
    """Python asked a symbolic tensor for its value, for example by `bool` or iteration."""


class UnsuitableDTypeError(TypeError, AttributeError):
    """An argument has a wrong dtype, in a function where TensorFlow raises AttributeError."""


class OutOfBoundsError(ValueError, IndexError):
    """An index or axis is out of bounds, in a function where TensorFlow raises IndexError."""


class NotDense(ValueError):  # noqa: N818 - `public` usually catches it
    """A ragged tensor was passed for a dense one; `public` calls the ragged function instead."""


class SparseNotDense(NotDense):
    """A sparse tensor was passed for a dense one; `public` calls the sparse function instead."""


class UserTypeFound(NotDense):
    """A value of a class with functions of the user; `public` calls the user's function."""


REDISPATCH = NotDense  # `public` passes it to `redispatch`


def public(fn: Callable[P, R]) -> Callable[P, R]:
    """Decorate a public function: its errors name the call and end at the caller's line."""

    @wraps(fn)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            try:
                return handle_error(error, call, args, kwargs)
            except Exception as final:
                hide_library_frames(final)
                raise

    return call


def handle_error(
    error: BaseException, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call another version of `fn` if `error` asks for it, else raise an error for users."""
    failure = error
    if isinstance(error, REDISPATCH):
        try:
            return call_other_version(error, getattr(fn, "__wrapped__", fn), args, kwargs)
        except Exception as raised:
            failure = raised
    else:
        retried = retry_in_trace(error, fn, args, kwargs)
        if retried is not None:
            return retried[0]
    raise final_error_of(failure, fn, args, kwargs)


def retry_in_trace(
    error: BaseException, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any] | None:
    """Call a function that failed in a trace of unknown sizes again, as the trace decides.

    Returns (result,), or None if that is impossible. Errors of the user's code are not retried.
    """
    from gradtape.core.context import local

    trace: Any = local.recorders[0] if local.recorders else None
    if getattr(trace, "sizes", None) is None:
        return None
    from gradtape.core.call_error import has_user_frames

    if has_user_frames(error.__traceback__):
        return None
    retried: tuple[Any] | None = trace.retry(error, getattr(fn, "__wrapped__", fn), args, kwargs)
    return retried


def raise_call_error(
    error: Exception, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> NoReturn:
    """Raise `error`, or the error that users see in its place."""
    raise final_error_of(error, fn, args, kwargs)


def final_error_of(error: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
    """The error that users see for a public call that raised `error`; mostly `error` itself."""
    from gradtape.core.call_error import as_call_error

    final = as_call_error(error, fn, args, kwargs)
    if final is error:
        final._raised_at = error.__traceback__
    return final


def redispatch(error: BaseException, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As `call_other_version`, for callers that handle other errors themselves."""
    try:
        return handle_error(error, fn, args, kwargs)
    except Exception as final:
        hide_library_frames(final)
        raise


def call_other_version(
    error: BaseException, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call the ragged or sparse version of `fn`, or the user's."""
    if isinstance(error, UserTypeFound):
        return UserTypePort.call_user_function(error, fn, args, kwargs)
    is_sparse = isinstance(error, SparseNotDense)
    find = RaggedPort.find_sparse_function if is_sparse else RaggedPort.find_function
    function = find(fn)
    if function is None:
        raise error
    return function(*args, **kwargs)
