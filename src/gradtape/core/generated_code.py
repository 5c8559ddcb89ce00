"""Execution of generated source whose lines debuggers and tracebacks can show."""

from __future__ import annotations

import itertools
import linecache
import os
from collections import deque
from typing import Any

from gradtape.core.traceback_filter import GENERATED_PREFIX

# GRADTAPE_REFERENCE=1 replaces generated functions by readable ones (`fastpath.reference`,
# `backward.make_reference_step`), which define what the generated ones do.
REFERENCE = os.environ.get("GRADTAPE_REFERENCE", "0") not in ("", "0")

next_number = itertools.count(1).__next__
FILENAMES: deque[str] = deque()  # of sources that `linecache` has, oldest first
MAX_SOURCES = 4096


def execute_source(title: str, text: str, namespace: dict[str, Any], made: Any = None) -> None:
    """Execute generated source in `namespace`; `title` says what it is.

    The source is a file for `linecache`, so tracebacks, debuggers and `inspect.getsource` show it.
    """
    filename = f"{GENERATED_PREFIX} {title} {next_number()}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    FILENAMES.append(filename)
    if len(FILENAMES) > MAX_SOURCES:
        linecache.cache.pop(FILENAMES.popleft(), None)
    exec(compile(text, filename, "exec"), namespace, made)
