"""The public names of a namespace, which `help` lists and `from … import *` imports."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any


def list_public_names(module: Any) -> list[str]:
    """The names that a module declares in `__all__`, defines, or exports by `import x as x`.

    Args:
        module: a module of a namespace.

    Returns:
        The names.
    """
    declared = vars(module).get("__all__")
    if declared is not None:
        return list(declared)
    try:
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
    except OSError:  # the sources are not installed
        return [name for name in vars(module) if not name.startswith("_")]
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.ImportFrom):
            names += [a.name for a in node.names if a.asname == a.name]
        elif isinstance(node, ast.Assign):
            names += [t.id for t in node.targets if isinstance(t, ast.Name)]
    return [name for name in names if not name.startswith("_")]
