"""Write the pages of the API reference from the docstrings of the public names.

    python tools/reference.py docs/reference/api

`make docs` calls it through `docs/conf.py`. The pages are not committed. The names are those
of the namespaces of `tf`, and the names that TensorFlow lacks (`OWN`).
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gradtape as tf
from gradtape.tf.public_name import list_public_names

OWN = {
    "gradtape": ["install", "uninstall"],
    "gradtape.debug": sorted(tf.debug.__all__),
    "gradtape.func": sorted(tf.func.__all__),
    "gradtape.engine": ["use", "current", "declined"],
}
OWN_NAMES = {"debug", "engine", "func", "install", "interop", "uninstall"}
SKIPPED = {"api", "compat", "numpy", "raw_ops", "tf"}  # described on pages of their own
# Methods of classes that other modules of gradtape call, and users do not.
INTERNAL_METHODS = {
    "Function": {
        "add_open_trace", "bind_instance", "cache_by_key", "cache_replayable", "drop_when_dead",
        "list_call_specs", "list_specializations", "note_captured_variables",
        "note_created_variables", "path_for", "replace_error", "specialization_for",
        "trace_options", "traced_function",
    },
    "TensorShape": {"from_tuple"},
}  # fmt: skip
TITLES = {
    "tf": "tf: the top level",
    "gradtape": "gradtape: use in place of TensorFlow",
    "gradtape.debug": "gradtape.debug: explanations, checks, pictures",
    "gradtape.func": "gradtape.func: transforms of functions",
    "gradtape.engine": "gradtape.engine: which engine runs a function",
}
# Sections of a Google-style docstring, as reST field lists
SECTIONS = ("Args", "Attributes", "Example", "Examples", "Note", "Raises", "Returns", "Yields")


def collect_names() -> dict[str, dict[str, Any]]:
    """The public names of each page, with their values."""
    pages: dict[str, dict[str, Any]] = {}
    collect_namespace("tf", tf, [n for n in dir(tf) if n not in OWN_NAMES], pages)
    for page, names in OWN.items():
        module = tf if page == "gradtape" else getattr(tf, page.partition(".")[2])
        pages[page] = {f"{page}.{name}": getattr(module, name) for name in names}
    return pages


def collect_namespace(path: str, module: Any, names: list[str], pages: dict[str, Any]) -> None:
    """Add the names of a namespace, and of the namespaces inside it."""
    for name in names:
        try:
            value = getattr(module, name, None)
        except ImportError:  # Keras is not installed
            continue
        if isinstance(value, ModuleType):
            if value.__name__.startswith("gradtape.tf.") and name not in SKIPPED:
                collect_namespace(f"{path}.{name}", value, list_public_names(value), pages)
        elif not name.startswith("_"):
            pages.setdefault(path, {})[f"{path}.{name}"] = value


def write_pages(folder: Path) -> list[str]:
    """Write a page for each namespace, and return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    described: dict[int, str] = {}  # id of a value → the first name under which it is described
    names = []
    for page, values in sorted(collect_names().items(), key=page_order):
        title = TITLES.get(page, page)
        text = [title, "=" * len(title), ""]
        for path, value in sorted(values.items(), key=lambda item: item[0].lower()):
            text += describe(path, value, described)
        content = "\n".join(text) + "\n"
        file = folder / f"{page}.rst"
        if not file.exists() or file.read_text(encoding="utf-8") != content:
            file.write_text(content, encoding="utf-8")
        names.append(page)
    return names


def page_order(item: tuple[str, Any]) -> tuple[bool, str]:
    """The top level last: a function of a namespace is described there."""
    return (item[0] == "tf", item[0])


def describe(path: str, value: Any, described: dict[int, str]) -> list[str]:
    """The directive of one name with its docstring."""
    if not callable(value):
        return [f".. py:data:: {path}", "", f"   ``{shorten(value)}``", ""]
    first = described.setdefault(id(value), path)
    if first != path:
        other = [f".. py:function:: {path}{signature_of(value)}", "   :no-index:", ""]
        return [*other, f"   Another name of :py:obj:`{first}`.", ""]
    kind = "class" if inspect.isclass(value) else "function"
    lines = [f".. py:{kind}:: {path}{signature_of(value)}", ""]
    lines += indent(to_rest(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        for name, member in public_members(value):
            lines += indent(describe_member(name, member))
    return lines


def describe_member(name: str, member: Any) -> list[str]:
    """The directive of a method or property of a class."""
    doc = to_rest(inspect.getdoc(member) or "")
    if isinstance(member, property):
        return [f".. py:property:: {name}", "", *indent(doc)]
    function = getattr(member, "__func__", member)
    option = ["   :classmethod:"] if isinstance(member, classmethod) else []
    text = signature_of(function).replace("(self, ", "(").replace("(cls, ", "(")
    text = "()" if text in ("(self)", "(cls)") else text
    return [f".. py:method:: {name}{text}", *option, "", *indent(doc)]


def public_members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class and of its bases in gradtape."""
    if hasattr(cls, "DESCRIPTOR") or issubclass(cls, (Exception, enum.Enum)):
        return
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("gradtape"):
            found |= {n: m for n, m in vars(base).items() if not n.startswith("_")}
    internal = INTERNAL_METHODS.get(cls.__name__, ())
    for name, member in sorted(found.items()):
        if name in internal:
            continue
        is_method = callable(member) or isinstance(member, (classmethod, staticmethod, property))
        if is_method and not inspect.isclass(member) and inspect.getdoc(member):
            yield name, member


def signature_of(value: Any) -> str:
    """Parameters and defaults without annotations."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    shown = [
        one.replace(annotation=one.empty, default=as_text(one.default))
        for one in signature.parameters.values()
    ]
    text = str(signature.replace(parameters=shown, return_annotation=inspect.Signature.empty))
    return text.replace("\n", " ")


class Source:
    """A default value that is printed as users would write it."""

    def __init__(self, text: str) -> None:
        """Store the text."""
        self.text = text

    def __repr__(self) -> str:
        """The text, unquoted."""
        return self.text


def as_text(default: Any) -> Any:
    """A default value whose repr can be read back."""
    if default is inspect.Parameter.empty:
        return default
    if isinstance(default, enum.Enum):
        return Source(str(default))
    return Source(default.__name__ if callable(default) else shorten(default))


def shorten(value: Any) -> str:
    """The repr of a value, without addresses, on one line."""
    text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
    return text if len(text) <= 80 else f"{text[:77]}..."


def to_rest(doc: str) -> list[str]:
    """A docstring with Google-style sections as reST lines."""
    lines: list[str] = []
    section = ""
    for line in doc.expandtabs().splitlines():
        head = re.fullmatch(r"(\w+):", line)
        if head and head[1] in SECTIONS:
            section = head[1]
            lines += ["", f".. rubric:: {section}", ""]
        elif not line.strip():
            lines.append("")
        elif section in ("Args", "Attributes", "Raises") and re.match(r"    \S", line):
            name, colon, rest = line.strip().partition(":")
            lines.append(f"- ``{name}``:{rest}" if colon else f"- {line.strip()}")
        elif section and line.startswith("    "):
            lines.append(line[4:] if section not in ("Args", "Attributes", "Raises") else line[6:])
        else:
            section = ""
            lines.append(line)
    return close_lists(lines)


def close_lists(lines: list[str]) -> list[str]:
    """Mark code by double backticks, indent continued list items, and separate lists by blanks."""
    result: list[str] = []
    is_listed = False
    for line in lines:
        if not line.lstrip().startswith((">>>", "...")):
            line = mark_code(line)
        if line.startswith("- "):
            is_listed = True
        elif not line.strip() or line.startswith(".. "):
            is_listed = False
        elif is_listed:
            line = "  " + line.strip()
        result.append(line)
    return [*result, ""]


def mark_code(line: str) -> str:
    """Double the backticks of code, and escape what reST would read as markup elsewhere."""
    parts = re.split(r"(`+[^`]+`+)", line)
    return "".join(
        f"``{part.strip('`')}``" if part.startswith("`") else re.sub(r"([*|])", r"\\\1", part)
        for part in parts
    )


def indent(lines: list[str]) -> list[str]:
    """Lines inside a directive."""
    return [f"   {line}" if line else "" for line in lines]


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
