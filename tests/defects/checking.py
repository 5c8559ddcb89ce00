"""Compare what is expected with what came. `end()` gives the exit status: 0 if all was right, 1 if not."""

import signal
import sys

import numpy as np

wrong = []


class Raises:
    """An expected error: its class is one of these, and none of `without` is in its text."""

    def __init__(self, *classes, says=(), without=()):
        self.classes, self.says, self.without = classes, says, without

    def __repr__(self):
        named = " or ".join(c.__name__ for c in self.classes)
        named += "".join(f", which says {text!r}" for text in self.says)
        return named + "".join(f", without {text!r}" for text in self.without)


class Raised:
    """What came was an error."""

    def __init__(self, error):
        self.error = error

    def __repr__(self):
        text = " ".join(str(self.error).split())
        return f"{type(self.error).__name__}: {text[:200]}"


def came_of(action):
    """What an action gives, or the error that it raises."""
    try:
        return plain(action())
    except Exception as error:
        return Raised(error)


def plain(value):
    """Tensors as arrays, structures of them as lists."""
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value.numpy() if hasattr(value, "numpy") else value


def line(value):
    """A value in one line."""
    return " ".join(repr(value).replace("\\n", " ").split())[:300]


def same(expected, came):
    """Whether this is what is expected: a value, an error, or what a test accepts."""
    expected = plain(expected)
    if isinstance(expected, Raises):
        if not isinstance(came, Raised) or not isinstance(came.error, expected.classes):
            return False
        text = str(came.error)
        return all(t in text for t in expected.says) and not any(
            t in text for t in expected.without
        )
    if isinstance(came, Raised):
        return False
    if expected is None or isinstance(expected, (str, bytes, bool, dict, type)):
        return bool(came == expected)
    if callable(expected):
        return bool(expected(came))
    if isinstance(expected, (list, tuple)) and isinstance(came, (list, tuple)):
        return len(expected) == len(came) and all(map(same, expected, came))
    if not isinstance(came, (list, tuple, int, float, complex, np.ndarray, np.generic)):
        return False
    came, expected = np.asarray(came), np.asarray(expected)
    if came.shape != expected.shape:
        return False
    if expected.dtype.kind not in "fciub":
        return came.tolist() == expected.tolist()
    return bool(np.allclose(came, expected, 1e-4, 1e-5, equal_nan=True))


def check(what, expected, came):
    """Print a line; `came` may be an action, whose error counts as what came."""
    came = came_of(came) if callable(came) else plain(came)
    right = same(expected, came)
    said = (
        expected.__doc__
        if callable(expected) and not isinstance(expected, type)
        else plain(expected)
    )
    print(
        f"{'right' if right else 'WRONG'}  {what}: expected {line(said)}, came {line(came)}",
        flush=True,
    )
    if not right:
        wrong.append(what)


def within(seconds):
    """End this process if it takes longer: some calls do not even hear Ctrl-C."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)


def end():
    """Leave with the status that says whether all was right."""
    sys.stdout.flush()
    sys.exit(1 if wrong else 0)
