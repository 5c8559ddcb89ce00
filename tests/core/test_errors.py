"""The exception tree of tf.errors, and tracebacks without this library's frames."""

import copy
import inspect
import pickle
import threading
import traceback

import pytest

from gradtape.core import errors, traceback_filter

CODES = {
    "CANCELLED": "CancelledError",
    "UNKNOWN": "UnknownError",
    "INVALID_ARGUMENT": "InvalidArgumentError",
    "DEADLINE_EXCEEDED": "DeadlineExceededError",
    "NOT_FOUND": "NotFoundError",
    "ALREADY_EXISTS": "AlreadyExistsError",
    "PERMISSION_DENIED": "PermissionDeniedError",
    "RESOURCE_EXHAUSTED": "ResourceExhaustedError",
    "FAILED_PRECONDITION": "FailedPreconditionError",
    "ABORTED": "AbortedError",
    "OUT_OF_RANGE": "OutOfRangeError",
    "UNIMPLEMENTED": "UnimplementedError",
    "INTERNAL": "InternalError",
    "UNAVAILABLE": "UnavailableError",
    "DATA_LOSS": "DataLossError",
    "UNAUTHENTICATED": "UnauthenticatedError",
}
every_class = pytest.mark.parametrize(("code", "name"), CODES.items())


@every_class
def test_each_class_has_its_code(code, name):
    error = getattr(errors, name)(None, None, "bad")
    assert error.error_code == getattr(errors, code) == list(CODES).index(code) + 1
    assert isinstance(error, errors.OpError)
    assert not isinstance(error, (ValueError, TypeError))


@every_class
def test_arguments_are_tensorflows(code, name):
    error = getattr(errors, name)("node", None, "bad", {b"k": b"v"})
    assert (error.node_def, error.op, error.message) == ("node", None, "bad")
    assert error.experimental_payloads == {b"k": b"v"}
    assert (str(error), repr(error), error.args) == ("bad", f"{name}()", ())


def test_a_bare_op_error_takes_its_code():
    error = errors.OpError(None, None, "bad", errors.ABORTED)
    assert (error.error_code, error.experimental_payloads) == (10, {})
    assert errors.OpError(None, None, "bad", error_code=7).error_code == 7


@pytest.mark.parametrize("again", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize(
    "error",
    [errors.NotFoundError(None, None, "bad"), errors.OpError(None, None, "bad", 9)],
    ids=["coded", "bare"],
)
def test_errors_are_pickled_with_their_message_and_code(error, again):
    twin = again(error)
    assert type(twin) is type(error)
    assert (twin.message, twin.error_code) == ("bad", error.error_code)


def test_a_subclass_keeps_the_code_of_its_parent():
    class Missing(errors.NotFoundError):
        pass

    assert Missing(None, None, "bad").error_code == errors.NOT_FOUND


def test_operators_on_symbolic_tensors_are_type_errors():
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)


@every_class
def test_the_message_alone_is_enough(code, name):
    error = getattr(errors, name)("op: what must hold.")
    assert (str(error), error.node_def, error.op) == ("op: what must hold.", None, None)


def test_a_message_alone_makes_an_op_error_of_unknown_kind():
    assert errors.OpError("bad").error_code == errors.UNKNOWN


# Code that is compiled under a generated name counts as code of this library.
LIBRARY: dict = {}
exec(
    compile(
        "def inner(fn):\n    return fn()\n\n\ndef outer(fn):\n    return inner(fn)\n",
        f"{traceback_filter.GENERATED_PREFIX} test>",
        "exec",
    ),
    LIBRARY,
)
outer = errors.public(LIBRARY["outer"])


def names_of(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def failing():
    raise KeyError("mine")


def test_the_traceback_ends_at_the_callers_line():
    with pytest.raises(TypeError) as info:
        outer(3)
    assert names_of(info.value) == ["test_the_traceback_ends_at_the_callers_line"]


def test_frames_of_callbacks_are_kept():
    with pytest.raises(KeyError) as info:
        outer(failing)
    assert names_of(info.value) == ["test_frames_of_callbacks_are_kept", "failing"]


def test_a_library_function_within_a_callback_is_hidden_too():
    with pytest.raises(KeyError) as info:
        outer(lambda: outer(failing))
    assert names_of(info.value)[1:] == ["<lambda>", "failing"]


def test_a_traceback_of_library_frames_only_becomes_empty():
    with pytest.raises(TypeError) as info:
        LIBRARY["inner"](None)
    assert traceback_filter.user_frames(info.value.__traceback__.tb_next) is None


def test_a_wrong_call_of_a_public_function_hides_the_wrapper():
    with pytest.raises(TypeError, match="missing 1 required positional argument") as info:
        outer()
    assert names_of(info.value) == ["test_a_wrong_call_of_a_public_function_hides_the_wrapper"]


def test_filtering_can_be_switched_off_in_a_thread():
    assert traceback_filter.is_traceback_filtering_enabled()
    traceback_filter.disable_traceback_filtering()
    try:
        elsewhere = []
        thread = threading.Thread(
            target=lambda: elsewhere.append(traceback_filter.is_traceback_filtering_enabled())
        )
        thread.start()
        thread.join()
        assert (traceback_filter.is_traceback_filtering_enabled(), elsewhere) == (False, [True])
        with pytest.raises(KeyError) as info:
            outer(failing)
        assert names_of(info.value)[1:] == ["call", "outer", "inner", "failing"]
    finally:
        traceback_filter.enable_traceback_filtering()
    assert traceback_filter.is_traceback_filtering_enabled()


def test_a_public_function_keeps_its_name_and_signature():
    @errors.public
    def scale(x: int, *, by: int = 2) -> int:
        """Multiply."""
        return x * by

    assert (scale.__name__, scale.__doc__, scale(3, by=3)) == ("scale", "Multiply.", 9)
    assert str(inspect.signature(scale)) == "(x: int, *, by: int = 2) -> int"
