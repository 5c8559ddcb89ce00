"""`gradtape verify`: runs a program on gradtape and on TensorFlow, and compares the two runs."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

VERIFY_USAGE = "usage: gradtape verify [--python PYTHON] [--rtol RTOL] script.py [argument ...]\n"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)")
TIME = re.compile(r"\d+(?:\.\d+)?\s?(?:us|ms|s)(?:/step|/epoch)?\b|[-\d]\d*:\d\d")
DEFAULT_RTOL = 1e-4  # of float32; float64 is compared ten thousand times as sharply

Event = tuple[str, int, Any]


class Divergence(NamedTuple):
    """The first difference between two runs.

    Attributes:
        line: the line of the program.
        what: what differs.
        ours: the value on gradtape.
        theirs: the value on TensorFlow.
    """

    line: int
    what: str
    ours: str
    theirs: str


def verify_program(arguments: list[str]) -> int:
    """Verify the program that `arguments` name.

    Returns:
        0 if both runs agree, 1 if they diverge, 2 if there is no such program or no TensorFlow.
    """
    options = {"--python": sys.executable, "--rtol": str(DEFAULT_RTOL)}
    rest = list(arguments)
    while len(rest) > 1 and rest[0] in options:
        options[rest[0]] = rest[1]
        del rest[:2]
    if not rest or rest[0].startswith("-"):
        sys.stderr.write(VERIFY_USAGE)
        return 2
    if not Path(rest[0]).is_file():
        sys.stderr.write(f"gradtape: the file {rest[0]} does not exist.\n")
        return 2
    try:
        ours = record_program("gradtape", sys.executable, rest)
        theirs = record_program("tensorflow", options["--python"], rest)
    except RuntimeError as error:
        sys.stderr.write(f"gradtape verify: {error}\n")
        return 2
    found = find_divergence(ours, theirs, float(options["--rtol"]))
    sys.stdout.write(report(rest[0], found, ours))
    return 0 if found is None else 1


def record_program(framework: str, python: str, arguments: list[str]) -> list[Event]:
    """Run a program in a process of its own and return its events.

    Raises:
        RuntimeError: if the framework cannot be imported there.
    """
    recorder = Path(__file__).with_name("program_recorder.py")
    environment = dict(os.environ)
    environment.pop("GRADTAPE_INSTALL", None)
    environment.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")
    if framework == "gradtape":
        home = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join(
            [home, *filter(None, [os.environ.get("PYTHONPATH")])]
        )
    else:
        environment.pop("PYTHONPATH", None)
        environment["GRADTAPE_ADOPTED"] = "0"  # else gradtape would be compared with itself
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "events")
        command = [python, str(recorder), framework, str(output), *arguments]
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
        if not output.exists():
            last = done.stderr.strip().split("\n")[-1]
            hint = (
                " Install TensorFlow, or name a Python that has it with --python."
                if framework == "tensorflow"
                else ""
            )
            raise RuntimeError(f"the program cannot run on {framework}: {last}.{hint}")
        events: list[Event] = pickle.loads(output.read_bytes())
    return events


def find_divergence(ours: list[Event], theirs: list[Event], rtol: float) -> Divergence | None:
    """The first difference between two runs, or None."""
    for mine, other in zip(ours, theirs, strict=False):
        found = compare_events(mine, other, rtol)
        if found is not None:
            return found
    if len(ours) == len(theirs):
        return None
    longer, count = (ours, len(theirs)) if len(ours) > len(theirs) else (theirs, len(ours))
    kind, line, value = longer[count]
    texts = [show_event(kind, value), "nothing more"]
    if longer is theirs:
        texts.reverse()
    return Divergence(line, "one run ends earlier", texts[0], texts[1])


def compare_events(mine: Event, other: Event, rtol: float) -> Divergence | None:
    """The difference between two events, or None."""
    (kind, line, value), (their_kind, their_line, their_value) = mine, other
    if kind != their_kind:
        ours, theirs = show_event(kind, value), show_event(their_kind, their_value)
        return Divergence(line or their_line, "the runs do different things", ours, theirs)
    if kind == "print":
        same = are_texts_equal(value, their_value, rtol)
        return None if same else Divergence(line, "printed text", value, their_value)
    if kind == "error":
        same = value.partition(":")[0] == their_value.partition(":")[0]
        return None if same else Divergence(line, "exception", value, their_value)
    return compare_gradients(line, value, their_value, rtol)


def compare_gradients(
    line: int, mine: list[Any], other: list[Any], rtol: float
) -> Divergence | None:
    """The first gradient that differs, or None."""
    if len(mine) != len(other):
        return Divergence(line, "number of gradients", str(len(mine)), str(len(other)))
    for i, (a, b) in enumerate(zip(mine, other, strict=True)):
        if a is None or b is None:
            if a is not b:
                return Divergence(line, f"gradient {i}", show_array(a), show_array(b))
            continue
        if a.shape != b.shape or a.dtype.name != b.dtype.name:
            kinds = [f"{x.dtype.name}{list(x.shape)}" for x in (a, b)]
            return Divergence(line, f"shape or dtype of gradient {i}", *kinds)
        where = find_worst_element(a, b, rtol)
        if where is not None:
            at = f"[{', '.join(map(str, where))}]" if where else ""
            return Divergence(line, f"gradient {i}{at}", str(a[where]), str(b[where]))
    return None


def find_worst_element(a: Any, b: Any, rtol: float) -> tuple[int, ...] | None:
    """The position of the largest difference between two arrays; None if they are close."""
    if a.dtype == object or a.dtype.kind not in "fciub":
        return None
    if a.dtype.itemsize >= (16 if a.dtype.kind == "c" else 8):
        rtol = rtol * 1e-4
    wide = np.result_type(a.dtype, np.float64)
    a, b = a.astype(wide), b.astype(wide)
    finite = np.abs(b[np.isfinite(b)])
    scale = max(float(finite.max()) if finite.size else 0.0, 1e-30)
    if np.allclose(a, b, rtol=rtol, atol=rtol * scale, equal_nan=True):
        return None
    distance = np.abs(a - b)
    distance = np.where(np.isfinite(a) != np.isfinite(b), np.inf, np.nan_to_num(distance))
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(distance)), distance.shape))


def are_texts_equal(a: str, b: str, rtol: float) -> bool:
    """Whether two lines agree: the same words, and numbers that are close. Times are ignored."""
    if a == b:
        return True
    a, b = TIME.sub("", a), TIME.sub("", b)
    if " ".join(NUMBER.sub("#", a).split()) != " ".join(NUMBER.sub("#", b).split()):
        return False
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (a, b)]
    return np.allclose(numbers[0], numbers[1], rtol=rtol, atol=rtol, equal_nan=True)


def show_event(kind: str, value: Any) -> str:
    """An event as text."""
    if kind == "gradient":
        return f"a gradient {', '.join(map(show_array, value))}"
    return f"prints {value!r}" if kind == "print" else f"raises {value}"


def show_array(array: Any) -> str:
    """A gradient as a short text."""
    if array is None:
        return "None"
    flat = np.ravel(array)
    values = ", ".join(str(v) for v in flat[:4]) + (" …" if flat.size > 4 else "")
    return f"{array.dtype.name}{list(array.shape)}: {values}"


def report(script: str, found: Divergence | None, events: list[Event]) -> str:
    """The verdict as text."""
    if found is None:
        prints = sum(kind == "print" for kind, _, _ in events)
        grads = sum(len(value) for kind, _, value in events if kind == "gradient")
        return f"gradtape and TensorFlow agree: {prints} printed lines, {grads} gradients.\n"
    where = f"{script}:{found.line}" if found.line else script
    lines = [f"first divergence at {where}: {found.what}"]
    if found.line:
        source = Path(script).read_text(encoding="utf-8").split("\n")
        lines.append(f"    {source[found.line - 1].strip()}")
    lines += [f"  gradtape:   {found.ours}", f"  TensorFlow: {found.theirs}"]
    return "\n".join(lines) + "\n"
