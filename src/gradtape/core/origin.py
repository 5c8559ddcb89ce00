"""From which tensors the library made a tensor, a variable or a dataset by no primitive.

The arguments of the library's frames on the stack tell: no public function needs instrumenting.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from gradtape.core.context import next_uid
from gradtape.core.ledger import MAX_FRAMES, add_version, current_moment, ledger, version_of
from gradtape.core.user_location import LIBRARY, USER_FILES, Location, user_location

PLAIN_TYPES = (int, float, str, bool, bytes, type(None))
DATASETS = f"{LIBRARY}pipeline"
MAX_ITEMS = 64  # of a list or dict that are searched


def note_birth(tensor: Any) -> None:
    """Write that the library made `tensor` by no primitive, from the arguments of its frames."""
    if ledger.checks is not None:
        ledger.checks.on_birth(tensor)
    if not ledger.full:
        return
    inputs, name, (code, instruction) = find_origins()
    ledger.kinds[abs(tensor.uid)] = tensor._array.dtype.kind
    entry = (("birth", name), tuple(inputs), tensor.uid, code, instruction, current_moment())
    ledger.entries.append(entry)


def find_origins(skip: Any = None) -> tuple[dict[Any, None], str, Location]:
    """Uids behind the arguments of the library's frames, the public function, and the location."""
    found: dict[Any, None] = {}
    name = ""
    in_dataset = False
    frame: FrameType | None = sys._getframe(2)
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if USER_FILES[code.co_filename]:
            return found, f"dataset.{name}" if in_dataset else name, (code, frame.f_lasti)
        if code.co_filename.startswith(LIBRARY):
            values = frame.f_locals
            for variable in argument_names(code):
                value = values.get(variable)
                if value is not None and value is not skip:
                    gather(value, found, 3)
            called = values.get("fn") if code.co_name == "call" else None
            name = getattr(called, "__name__", code.co_name)
            in_dataset = in_dataset or code.co_filename.startswith(DATASETS)
        frame = frame.f_back
    return found, name, user_location(2)


def argument_names(code: CodeType) -> tuple[str, ...]:
    """Names of the parameters of a function, with `*args` and `**kwargs`."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def gather(value: Any, found: dict[Any, None], depth: int) -> None:
    """Add the uids of tensors, variables, datasets and departed arrays in `value` to `found`."""
    kind = type(value)
    if kind in PLAIN_TYPES or isinstance(value, type):
        return
    if kind in (list, tuple, dict):
        for one in list(value.values() if kind is dict else value)[:MAX_ITEMS] if depth else ():
            gather(one, found, depth - 1)
    elif hasattr(value, "uid") and hasattr(value, "_array"):
        found[value.uid] = None
    elif hasattr(value, "__array_interface__") and hasattr(value, "base"):
        gather_array(value, found)
    elif hasattr(value, "__code__"):
        for one in closure_values(value) if depth else ():
            gather(one, found, depth - 1)
    else:
        gather_indirect(value, found)


def gather_indirect(value: Any, found: dict[Any, None]) -> None:
    """Add the uid of a variable or dataset, or of one behind a wrapper such as Keras's."""
    dataset = getattr(value, "_dataset", value)
    if "_key" in getattr(value, "__dict__", ()):
        add_version(value, found)
    elif hasattr(dataset, "_origin_uid"):
        found[dataset._origin_uid] = None
    elif hasattr(value, "_target_variable"):
        add_version(value._target_variable, found)
    elif hasattr(value, "indices") and not hasattr(value, "with_values"):  # IndexedSlices
        part: Any = getattr(value, "values", None)
        if hasattr(part, "uid"):
            found[part.uid] = None


def gather_array(array: Any, found: dict[Any, None]) -> None:
    """Add the departure of an array, or of the array it is a view of."""
    for one in (array, getattr(array, "base", None)):
        known = None if one is None else ledger.left.get(id(one))
        if known is not None and known[0]() is one:
            found[("left", known[1])] = None


def closure_values(function: Any) -> Iterator[Any]:
    """Values of the variables that a user's function takes from outside."""
    code = function.__code__
    if not USER_FILES[code.co_filename]:
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    yield from function.__defaults__ or ()
    owner = getattr(function, "__self__", None)
    if owner is not None:
        yield list(getattr(owner, "__dict__", {}).values())
    for name in names_in(code):
        if name in function.__globals__:
            yield function.__globals__[name]


def names_in(code: CodeType) -> Iterator[str]:
    """Global names that a code object and those inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def note_assign(variable: Any, kind: str = "assign") -> None:
    """Write that a variable was created or assigned, with the tensors it came from."""
    if ledger.checks is not None and kind == "assign":
        ledger.checks.on_assign(variable)
    if not ledger.full:
        return
    version = version_of(variable)
    inputs, name, (code, instruction) = find_origins(variable)
    if version is None:
        return
    inputs.pop(version.uid, None)
    ledger.kinds[abs(version.uid)] = version._array.dtype.kind
    trainable, label = bool(variable._trainable), str(variable._name)
    fact = (kind, name, variable._key, trainable, is_in_metric(), label)
    ledger.entries.append((fact, tuple(inputs), version.uid, code, instruction, current_moment()))


def is_in_metric() -> bool:
    """Whether a metric's method is on the stack: an object with `update_state` and `result`."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(MAX_FRAMES):
        if frame is None:
            return False
        if frame.f_code.co_name in ("update_state", "__call__", "result"):
            owner = frame.f_locals.get("self")
            if hasattr(owner, "update_state") and hasattr(owner, "reset_state"):
                return True
        frame = frame.f_back
    return False


def note_dataset(dataset: Any) -> None:
    """Give a new dataset a uid and write what it was made of."""
    if not ledger.full:
        return
    inputs, name, (code, instruction) = find_origins(dataset)
    dataset._origin_uid = next_uid()
    ledger.entries.append(
        (("dataset", name), tuple(inputs), dataset._origin_uid, code, instruction, current_moment())
    )
