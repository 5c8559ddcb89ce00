"""Decides whether an error that a public call raised is one that users can understand.

An error is *internal* if one of these holds:

- its class is none of TensorFlow's errors, `TypeError`, `ValueError`, `NotImplementedError` and
  their like, unless gradtape raises that class on purpose in this place;
- its message names neither an op nor an argument;
- its message names a file of the repository, which an installed package does not have.
"""

import dis
import re
from pathlib import Path

import numpy as np

import gradtape as tf

LIBRARY = str(Path(tf.__file__).parent)
HERE = str(Path(__file__).parent)
USUAL = (tf.errors.OpError, TypeError, ValueError, NotImplementedError)
NEVER = (np.linalg.LinAlgError, np.exceptions.AxisError, UnicodeError, RecursionError)
DELIBERATE = (  # if gradtape raises them by a `raise` statement
    *(RuntimeError, LookupError, StopIteration, AttributeError, ImportError, OSError),
    AssertionError,
)
FILES = re.compile(r"\b(docs|tests|tools|examples|benchmarks)/\w+|\b\w+\.(md|py)\b")
RAISE = dis.opmap["RAISE_VARARGS"]


def innermost(traceback):
    """The last entry of a traceback."""
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def is_raised_by(error, folder):
    """Whether a `raise` statement of a file below `folder` raised the error."""
    last = innermost(error.__traceback__)
    code = last.tb_frame.f_code
    named = code.co_filename.startswith((folder, "<gradtape"))
    return named and code.co_code[last.tb_lasti] == RAISE


def is_users(error):
    """Whether the error comes out of a function or an object of this fuzzer."""
    name = innermost(error.__traceback__).tb_frame.f_code.co_filename
    return name == "<seed>" or (name.startswith(HERE) and not name.endswith("calls.py"))


def words_of(text):
    """The words of a text in lower case; `_` and `.` divide words as spaces do not."""
    return set(re.findall(r"[a-z0-9_]+", text.lower()))


def names_call(message, path, parameters):
    """Whether a message names an op or a parameter of this call."""
    if re.match(r"`?(tf\.)?[A-Za-z_][\w.]*`?(\(\))?: ", message):  # "op: what must hold"
        return True
    if re.search(r"\bcompute [A-Z]\w+|attr '\w+'|^[\w.<>]+\(\) (got|missing|takes) ", message):
        return True
    words = words_of(message)
    owner_and_name = path.lower().split(".")[-2:]
    if words & {*owner_and_name, *(p.lower() for p in parameters if len(p) > 1)}:
        return True
    squeezed = re.sub(r"[^a-z0-9]", "", message.lower())
    return path.rpartition(".")[2].lower().replace("_", "") in squeezed


def place_of(error):
    """The file and line of gradtape nearest to the error."""
    place, entry = "?", (error.__cause__ or error).__traceback__
    while entry is not None:
        name = entry.tb_frame.f_code.co_filename
        if name.startswith(LIBRARY):
            place = f"{name[len(LIBRARY) + 1 :]}:{entry.tb_lineno}"
        entry = entry.tb_next
    return place


def judge(error, path, parameters):
    """None if the error is as it should be, else the reason why it looks internal."""
    if is_users(error):
        return None
    message = str(error)
    if isinstance(error, NEVER):
        return "class"
    if not isinstance(error, USUAL) and not (
        isinstance(error, DELIBERATE) and is_raised_by(error, LIBRARY)
    ):
        return "class"
    if not names_call(message, path, parameters):
        return "message"
    return "file" if FILES.search(message) else None
