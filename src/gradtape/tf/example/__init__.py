"""Examples in the docstrings of generated functions: tables of doctests, and what adds them.

Functions that are written out have their example in their own docstring.
"""

from __future__ import annotations

from typing import Any


def add_examples(names: dict[str, Any], examples: dict[str, str]) -> None:
    """Append the section `Example` to docstrings.

    Args:
        names: the global names of a module.
        examples: a doctest for each of some functions of the module.
    """
    for name, text in examples.items():
        function = names[name]
        doc = function.__doc__
        if doc:  # `python -OO` strips docstrings
            margin = "    " if "\n    Args:" in doc else ""
            lines = "".join([f"\n{margin}    {line}" for line in text.split("\n")])
            function.__doc__ = f"{doc.rstrip()}\n\n{margin}Example:{lines}\n{margin}"
