"""All registered primitives, and their samples."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import gradtape.ops
from gradtape.core.primitive import REGISTRY, Primitive
from tests.sweep.sample import Sample


def primitives() -> dict[str, Primitive]:
    """All primitives of gradtape, by name."""
    for module in pkgutil.walk_packages(gradtape.ops.__path__, "gradtape.ops."):
        importlib.import_module(module.name)
    ours = (op for op in REGISTRY.values() if op.kernel.__module__.startswith("gradtape."))
    return {op.name: op for op in ours}


def samples() -> dict[str, list[Sample]]:
    """The samples of all files, by name of the primitive."""
    found: dict[str, list[Sample]] = {}
    for path in sorted(Path(__file__).with_name("samples").glob("*.py")):
        module = importlib.import_module(f"tests.sweep.samples.{path.stem}")
        for name, some in module.SAMPLES.items():
            found.setdefault(name, []).extend(some)
    return found


def missing(ops: dict[str, Primitive], given: dict[str, list[Sample]]) -> set[str]:
    """Primitives without samples, or with a rule that no sample with a float input reaches."""
    from tests.sweep.pullback import inputs_with_rules

    lacking = set()
    for name, op in ops.items():
        reached = {i for sample in given.get(name, []) for i in inputs_with_rules(op, sample)}
        wanted = {i for i in range(len(op.inputs)) if op.rule(i) is not None}
        if not given.get(name) or wanted - reached:
            lacking.add(name)
    return lacking
