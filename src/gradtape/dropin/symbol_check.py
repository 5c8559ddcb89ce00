"""`python -m gradtape check`: lists the TensorFlow symbols of a program that gradtape lacks.

The program is not run. Imports, aliases and attribute chains are collected from its source. Each
symbol is then looked up in gradtape, and in Keras if it is installed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gradtape.dropin.install import KERAS, ROOT, install
from gradtape.dropin.missing_symbol import explain_missing_name
from gradtape.dropin.namespace import TensorFlowNamespace

CHECK_USAGE = "usage: python -m gradtape check script.py|folder [script.py|folder ...]\n"
SKIPPED_FOLDERS = ("__pycache__", "node_modules", "site-packages", "venv")
KERAS_NAMESPACES = (
    KERAS,
    *(f"{ROOT}.{name}" for name in ("initializers", "losses", "metrics", "optimizers")),
)


@dataclass
class SymbolReader(ast.NodeVisitor):
    """Collects the symbols below `tensorflow` in a source, with their lines."""

    aliases: dict[str, str] = field(default_factory=dict)
    symbols: dict[str, list[int]] = field(default_factory=dict)

    def record_line(self, symbol: str, line: int) -> None:
        """Record a line in which a symbol occurs."""
        if line not in self.symbols.setdefault(symbol, []):
            self.symbols[symbol].append(line)

    def visit_Import(self, node: ast.Import) -> None:
        """`import tensorflow.x as y`."""
        for alias in node.names:
            if not is_tensorflow_name(alias.name):
                continue
            self.record_line(alias.name, node.lineno)
            if alias.asname:
                self.aliases[alias.asname] = alias.name
            else:
                self.aliases[ROOT] = ROOT

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from tensorflow.x import y as z`."""
        if node.level or not is_tensorflow_name(node.module or ""):
            return
        for alias in node.names:
            if alias.name == "*":
                self.record_line(str(node.module), node.lineno)
                continue
            symbol = f"{node.module}.{alias.name}"
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
        return ".".join([self.aliases[node.id], *reversed(names)])


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
    """The Python files that arguments name; folders are searched recursively."""
    for argument in map(Path, arguments):
        if argument.is_dir():
            for path in sorted(argument.rglob("*.py")):
                parts = path.relative_to(argument).parts
                if not any(part in SKIPPED_FOLDERS or part.startswith(".") for part in parts):
                    yield path
        else:
            yield argument


def check_files(arguments: list[str]) -> int:
    """Report on files and folders; the exit code is 1 if symbols are missing, 2 on unread files."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(CHECK_USAGE)
        return 0 if arguments else 2
    install()
    __import__(ROOT)
    has_keras = find_spec("keras") is not None
    symbols: set[str] = set()
    absent: set[str] = set()
    unchecked: set[str] = set()
    unreadable = 0
    for path in find_source_files(arguments):
        reader = SymbolReader()
        try:
            reader.visit(ast.parse(path.read_bytes(), str(path)))
        except (OSError, SyntaxError, ValueError) as error:
            sys.stderr.write(f"{path}: {error}\n")
            unreadable += 1
            continue
        symbols.update(reader.symbols)
        for symbol, lines in sorted(reader.symbols.items(), key=lambda item: item[1]):
            if is_keras_symbol(symbol) and not has_keras:
                unchecked.add(symbol)
                continue
            why = explain_missing(symbol)
            if why is not None:
                absent.add(symbol)
                for line in lines:
                    sys.stdout.write(f"{path}:{line}: {symbol.replace(ROOT, 'tf', 1)}: {why}\n")
    sys.stdout.write(
        f"{len(symbols)} symbols of TensorFlow, {len(symbols - absent - unchecked)} supported, "
        f"{len(absent)} missing"
        + (
            f", {len(unchecked)} of tf.keras not checked: Keras is not installed"
            if unchecked
            else ""
        )
        + ".\n"
    )
    return 2 if unreadable else int(bool(absent))
