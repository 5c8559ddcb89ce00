"""`gradtape check`: lists the TensorFlow symbols of a program that gradtape lacks.

The program is not run. Imports, aliases and attribute chains are collected from its source, in
scripts and in the code cells of notebooks. Each symbol is then looked up in gradtape, and in Keras
if it is installed. Imports of other packages that are built on TensorFlow are listed, too.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gradtape.dropin.install import KERAS, ROOT, install
from gradtape.dropin.missing_symbol import explain_missing_name
from gradtape.dropin.namespace import TensorFlowNamespace

CHECK_USAGE = "usage: gradtape check script.py|notebook.ipynb|folder ...\n"
SKIPPED_FOLDERS = ("__pycache__", "node_modules", "site-packages", "venv")
KERAS_NAMESPACES = (
    KERAS,
    *(f"{ROOT}.{name}" for name in ("initializers", "losses", "metrics", "optimizers")),
)
VERSION_2 = f"{ROOT}.compat.v2"  # another name of TensorFlow's top level
BUILT_ON_TENSORFLOW = re.compile(r"tensorflow_\w+|tf_(agents|keras|slim)|deepxde|gpflow|sonnet")
"""Packages that import TensorFlow themselves; their own use of it is not checked."""


@dataclass
class SymbolReader(ast.NodeVisitor):
    """Collects the symbols below `tensorflow` in a source, with their lines."""

    aliases: dict[str, str] = field(default_factory=dict)
    symbols: dict[str, list[int]] = field(default_factory=dict)
    packages: dict[str, int] = field(default_factory=dict)  # built on TensorFlow, with their lines

    def record_line(self, symbol: str, line: int) -> None:
        """Record a line in which a symbol occurs."""
        if line not in self.symbols.setdefault(symbol, []):
            self.symbols[symbol].append(line)

    def visit_Import(self, node: ast.Import) -> None:
        """`import tensorflow.x as y`."""
        for alias in node.names:
            self.record_package(alias.name, node.lineno)
            if not is_tensorflow_name(alias.name):
                continue
            symbol = shorten_version_2(alias.name)
            self.record_line(symbol, node.lineno)
            if alias.asname:
                self.aliases[alias.asname] = symbol
            else:
                self.aliases[ROOT] = ROOT

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from tensorflow.x import y as z`."""
        if not node.level:
            self.record_package(node.module or "", node.lineno)
        if node.level or not is_tensorflow_name(node.module or ""):
            return
        for alias in node.names:
            if alias.name == "*":
                self.record_line(str(node.module), node.lineno)
                continue
            symbol = shorten_version_2(f"{node.module}.{alias.name}")
            self.record_line(symbol, node.lineno)
            self.aliases[alias.asname or alias.name] = symbol

    def visit_Assign(self, node: ast.Assign) -> None:
        """`K = tf.keras.backend` defines an alias."""
        symbol = self.dotted_name(node.value)
        if symbol is not None:
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.aliases[target.id] = symbol
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """`tf.math.reduce_sum` is recorded as one symbol."""
        symbol = self.dotted_name(node)
        if symbol is None:
            self.generic_visit(node)
        else:
            self.record_line(symbol, node.lineno)

    def dotted_name(self, node: ast.AST) -> str | None:
        """The dotted name of an attribute chain that starts with an alias; otherwise None."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.aliases:
            return None
        return shorten_version_2(".".join([self.aliases[node.id], *reversed(names)]))

    def record_package(self, module: str, line: int) -> None:
        """Record the import of a package that is built on TensorFlow."""
        package = module.partition(".")[0]
        if BUILT_ON_TENSORFLOW.fullmatch(package):
            self.packages.setdefault(package, line)


def shorten_version_2(symbol: str) -> str:
    """The symbol without `compat.v2`, which is another name of the top level."""
    if symbol == VERSION_2 or symbol.startswith(f"{VERSION_2}."):
        return ROOT + symbol[len(VERSION_2) :]
    return symbol


def is_tensorflow_name(name: str) -> bool:
    """Whether a name is `tensorflow` or below it."""
    return name == ROOT or name.startswith(f"{ROOT}.")


def is_keras_symbol(symbol: str) -> bool:
    """Whether a symbol is looked up in Keras."""
    return any(symbol == name or symbol.startswith(f"{name}.") for name in KERAS_NAMESPACES)


def explain_missing(symbol: str) -> str | None:
    """Why gradtape lacks a symbol; None if it has it."""
    found: Any = sys.modules[ROOT]
    path = ROOT
    for name in symbol.split(".")[1:]:
        if not isinstance(found, (TensorFlowNamespace, ModuleType, type)):
            return None  # an attribute of an object that exists
        path = f"{path}.{name}"
        try:
            found = getattr(found, name)
        except (AttributeError, NotImplementedError, ImportError) as error:
            text = str(error)
            return text[text.find("gradtape does not have") :] if "gradtape" in text else text
        if getattr(found, "is_refusal", False):
            return explain_missing_name(path.rpartition(".")[0].replace(ROOT, "tf", 1), name, ())
    return None


def find_source_files(arguments: list[str]) -> Iterator[Path]:
    """The scripts and notebooks that arguments name; folders are searched recursively."""
    for argument in map(Path, arguments):
        if argument.is_dir():
            for path in sorted([*argument.rglob("*.py"), *argument.rglob("*.ipynb")]):
                parts = path.relative_to(argument).parts
                if not any(part in SKIPPED_FOLDERS or part.startswith(".") for part in parts):
                    yield path
        else:
            yield argument


@dataclass
class ScriptSource:
    """The Python source of a script, or of the code cells of a notebook.

    Attributes:
        path: where it was read.
        text: the source.
        cell_starts: the first line of each cell of a notebook; empty for a script.
    """

    path: Path
    text: str | bytes
    cell_starts: list[int] = field(default_factory=list)

    def locate(self, line: int) -> str:
        """The file and the line in it, for a notebook the cell (counted from 1) and its line."""
        if not self.cell_starts:
            return f"{self.path}:{line}"
        cell = bisect(self.cell_starts, line)
        return f"{self.path}: code cell {cell}, line {line - self.cell_starts[cell - 1] + 1}"


def read_source(path: Path) -> ScriptSource:
    """Read a script or a notebook; lines that only IPython understands do nothing.

    Raises:
        ValueError: if a notebook has no cells.
    """
    if path.suffix != ".ipynb":
        return ScriptSource(path, path.read_bytes())
    cells = json.loads(path.read_text(encoding="utf-8")).get("cells")
    if not isinstance(cells, list):
        raise ValueError("the notebook has no list of cells; open and save it with Jupyter")
    lines: list[str] = []
    starts: list[int] = []
    for cell in cells:
        if cell.get("cell_type") == "code":
            starts.append(len(lines) + 1)
            text = "".join(cell["source"])
            own = ["pass"] if text.startswith("%%") else text.split("\n")
            lines.extend(map(hide_ipython_command, own))
    return ScriptSource(path, "\n".join(lines), starts)


def hide_ipython_command(line: str) -> str:
    """Replace a line that only IPython understands by `pass`."""
    bare = line.lstrip()
    if bare.startswith(("%", "!", "?")) or bare.rstrip().endswith("?"):
        return line[: len(line) - len(bare)] + "pass"
    return line


@dataclass
class SymbolCheck:
    """Checks files, one after the other, and counts what it finds."""

    symbols: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    unchecked: set[str] = field(default_factory=set)
    unreadable: int = 0

    def check_file(self, path: Path) -> None:
        """Report on a file, line by line."""
        reader = SymbolReader()
        try:
            source = read_source(path)
            reader.visit(ast.parse(source.text, str(path)))
        except (OSError, SyntaxError, ValueError, TypeError, KeyError, AttributeError) as error:
            missing = isinstance(error, FileNotFoundError)
            reason = "the file does not exist" if missing else error
            sys.stderr.write(f"{path}: {reason}\n")
            self.unreadable += 1
            return
        self.symbols.update(reader.symbols)
        for package, line in reader.packages.items():
            place = source.locate(line)
            sys.stdout.write(f"{place}: {package} is built on TensorFlow and is not checked\n")
        for symbol, lines in sorted(reader.symbols.items(), key=lambda item: item[1]):
            self.check_symbol(symbol, lines, source)

    def check_symbol(self, symbol: str, lines: list[int], source: ScriptSource) -> None:
        """Report on a symbol that occurs in these lines."""
        if is_keras_symbol(symbol) and find_spec("keras") is None:
            self.unchecked.add(symbol)
            return
        why = explain_missing(symbol)
        if why is not None:
            self.absent.add(symbol)
            for line in lines:
                name = symbol.replace(ROOT, "tf", 1)
                sys.stdout.write(f"{source.locate(line)}: {name}: {why}\n")

    def summarize(self) -> str:
        """One line of counts."""
        supported = self.symbols - self.absent - self.unchecked
        text = f"{len(self.symbols)} symbols of TensorFlow, {len(supported)} supported, "
        text += f"{len(self.absent)} missing"
        if self.unchecked:
            text += f", {len(self.unchecked)} of tf.keras not checked: Keras is not installed"
        return text + ".\n"


def check_files(arguments: list[str]) -> int:
    """Report on files and folders; the exit code is 1 if symbols are missing, 2 on unread files."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(CHECK_USAGE)
        return 0 if arguments else 2
    install()
    __import__(ROOT)
    check = SymbolCheck()
    for path in find_source_files(arguments):
        check.check_file(path)
    sys.stdout.write(check.summarize())
    return 2 if check.unreadable else int(bool(check.absent))
