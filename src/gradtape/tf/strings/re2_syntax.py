"""Translation of RE2's regular expressions, TensorFlow's dialect, to Python's."""

from __future__ import annotations

import functools
import re
import unicodedata

import numpy as np

POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
TOKEN = re.compile(
    r"""\\Q(?P<quoted>.*?)(?:\\E|\Z)
    |\\(?P<sign>[pP])(?:\{(?P<negation>\^?)(?P<name>\w+)\}|(?P<letter>[A-Z]))
    |\\x\{(?P<code>[0-9A-Fa-f]+)\}
    |\\(?P<octal>[0-7]{2,3})
    |\\(?P<escape>.)
    |\[:(?P<posix_negation>\^?)(?P<posix>\w+):\]
    |(?P<open>\[\^?\]?)
    |(?P<close>\])
    |\(\?(?P<group>.)(?P<more>.?)
    |(?P<repeat>[*+?}])\+
    |(?P<bound>\{,\d*\})
    |.""",
    re.DOTALL | re.VERBOSE,
)
SURROGATES = range(0xD800, 0xE000)  # stand for invalid bytes, which no class matches


@functools.cache
def categories_of_code_points() -> np.ndarray:
    """The general category of every code point, such as "Ll"."""
    table = [unicodedata.category(chr(code)) for code in range(0x110000)]
    return np.array(table, "U2")


def write_ranges(member: np.ndarray) -> str:
    """The inside of a character class that holds the marked code points."""
    member[SURROGATES.start : SURROGATES.stop] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[False], member, [False]])))
    return "".join(
        f"\\U{start:08x}-\\U{stop - 1:08x}" for start, stop in edges.reshape(-1, 2).tolist()
    )


@functools.cache
def write_category(name: str, is_negated: bool) -> str:
    r"""The inside of a character class for `\p{name}`, or for its complement."""
    table = categories_of_code_points()
    if name == "Any":
        member = np.ones(len(table), bool)
    elif len(name) == 1:
        member = table.astype("U1") == name
    else:
        member = table == name
    if not member.any():
        raise re.error(f"invalid character class range: \\p{{{name}}}")
    return write_ranges(~member if is_negated else member)


def write_posix_class(name: str, is_negated: bool) -> str:
    """The inside of a character class for `[:name:]`, or for its complement."""
    if name not in POSIX_CLASSES:
        raise re.error(f"invalid character class range: [:{name}:]")
    inside = POSIX_CLASSES[name]
    if not is_negated:
        return inside
    matcher = re.compile(f"[{inside}]")
    member = np.ones(0x110000, bool)
    member[:128] = [matcher.match(chr(code)) is None for code in range(128)]
    return write_ranges(member)


def write_escape(letter: str, in_class: bool) -> str:
    r"""An escape such as `\z` in Python's syntax."""
    if letter == "s":
        return r"\t\n\f\r " if in_class else r"[\t\n\f\r ]"
    if letter == "S":
        return r"\S\v" if in_class else r"[^\t\n\f\r ]"
    if letter == "z":
        return r"\Z"
    if letter == "Z" or (letter.isdigit() and letter != "0"):
        raise re.error(f"invalid escape sequence: \\{letter}")
    return "\\" + letter


def check_group(first: str, second: str) -> None:
    """Refuse groups that RE2 lacks: lookaround, references, comments and atomic groups."""
    if (
        first in "=!#>(aLux"
        or (first == "<" and second in "=!")
        or (first == "P" and second == "=")
    ):
        raise re.error(f"invalid perl operator: (?{first}{second}")


def write_token(token: re.Match[str], in_class: bool) -> str | None:
    """A token that means the same inside and outside of a class, in Python's syntax."""
    if token["sign"]:
        is_negated = (token["sign"] == "P") != bool(token["negation"])
        inside = write_category(token["name"] or token["letter"], is_negated)
        return inside if in_class else f"[{inside}]"
    if token["quoted"] is not None:
        return re.escape(token["quoted"])
    if token["code"]:
        return re.escape(chr(int(token["code"], 16)))
    if token["octal"]:
        return f"\\U{int(token['octal'], 8):08x}"
    if token["escape"]:
        return write_escape(token["escape"], in_class)
    return None


def write_in_class(token: re.Match[str]) -> tuple[str, int]:
    """A token inside of a character class, and the size of the text it stands for."""
    if token["posix"]:
        return write_posix_class(token["posix"], bool(token["posix_negation"])), len(token[0])
    written = write_token(token, True)
    if written is not None:
        return written, len(token[0])
    first = token[0][0]
    return ("\\[" if first == "[" else first), 1


def write_outside(token: re.Match[str]) -> tuple[str, int]:
    """A token outside of a character class, and the size of the text it stands for."""
    if token["group"]:
        check_group(token["group"], token["more"])
        return "(?", 2
    if token["repeat"]:
        raise re.error(f"bad repetition operator: {token[0]}")
    if token["bound"]:
        return re.escape(token["bound"]), len(token[0])
    if token["posix"]:
        return "[", 1
    written = write_token(token, False)
    return (token[0] if written is None else written), len(token[0])


def translate_pattern(pattern: str) -> str:
    """Rewrite an RE2 pattern so that Python's `re` matches the same text.

    Raises:
        re.error: if RE2 refuses the pattern.
    """
    out, in_class, at = [], False, 0
    while at < len(pattern):
        token = TOKEN.match(pattern, at)
        if token is None:
            raise re.error(f"trailing \\ at end of expression: {pattern}")
        written, size = write_in_class(token) if in_class else write_outside(token)
        in_class = not token["close"] if in_class else bool(token["open"] or token["posix"])
        out.append(written)
        at += size
    return "".join(out)


@functools.cache
def split_rewrite(rewrite: str) -> tuple[str | int, ...]:
    """The literal texts and group numbers of a replacement; ends at an invalid escape."""
    parts: list[str | int] = []
    for piece in re.findall(r"\\.?|[^\\]+", rewrite, re.DOTALL):
        if piece == "\\\\":
            parts.append("\\")
        elif piece[0] != "\\":
            parts.append(piece)
        elif piece[1:].isdecimal():
            parts.append(int(piece[1:]))
        else:
            break
    return tuple(parts)


def replace_matches(pattern: re.Pattern[str], rewrite: str, text: str, replace_all: bool) -> str:
    """Replace matches; an empty match right after another match does not count."""
    parts = split_rewrite(rewrite)
    if any(isinstance(part, int) and part > pattern.groups for part in parts):
        return text
    out: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        if out and match.end() == end:
            continue
        out.append(text[end : match.start()])
        out.extend(part if isinstance(part, str) else match[part] or "" for part in parts)
        end = match.end()
        if not replace_all:
            break
    return "".join(out) + text[end:]
