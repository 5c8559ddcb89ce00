"""Libraries that only ask whether TensorFlow is there, and would use what gradtape does not have.

While one of them, or a part of it, is being imported, no `tensorflow` can be found: neither by
`import`, nor by `find_spec`, nor in `importlib.metadata` (the last also later on). A library that
imports TensorFlow inside a function, when it is used, gets gradtape.
"""

from __future__ import annotations

import functools
import importlib.abc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

from gradtape.core.lock import Lock

NAMES = """
    accelerate clearml comet_ml datasets diffusers evaluate fastai flax huggingface_hub lightning
    mlflow neptune onnx onnxruntime optuna orbax peft pytorch_lightning ray sentence_transformers
    shap skl2onnx tensorboard tensorboardX tensorboard_plugin_profile tf2onnx torch torchvision
    transformers wandb
"""
BLOCKED = frozenset(NAMES.split())
MACHINERY = ("importlib", "gradtape.dropin", "_frozen_importlib", "runpy", "pkgutil")


def is_blocked(name: str) -> bool:
    """Whether a module belongs to a library of the list."""
    return name.partition(".")[0] in BLOCKED


def caller() -> tuple[str, str]:
    """Which module asks, and by which function of Python's import machinery."""
    frame: FrameType | None = sys._getframe(1)
    by = ""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith(MACHINERY):
            return name, by
        by = f"{name}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "", by


def asked_by_blocked() -> bool:
    """Whether the question comes from a library of the list."""
    return is_blocked(caller()[0])


@contextmanager
def hidden(is_ours: Callable[[str], bool]) -> Iterator[None]:
    """Within this scope no module of TensorFlow's name is loaded."""
    with SWAPPING:
        taken = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    try:
        yield
    finally:
        with SWAPPING:
            for name in [name for name in sys.modules if is_ours(name)]:
                taken.setdefault(name, sys.modules[name])
            sys.modules.update(taken)


SWAPPING = Lock()


class Curtain(importlib.abc.MetaPathFinder):
    """Finds the libraries of the list where they are, and hides TensorFlow while they load."""

    def __init__(self, is_ours: Callable[[str], bool]) -> None:
        """`is_ours` tells TensorFlow's names."""
        self.is_ours = is_ours

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that other finders have, with a loader that draws the curtain."""
        if not is_blocked(fullname):
            return None
        for finder in sys.meta_path:
            if finder is self or getattr(finder, "curtain", None) is self:
                continue
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "__dict__"):
                    self.draw(spec.loader)
                return spec
        return None

    def draw(self, loader: Any) -> None:
        """Let this loader, which belongs to one module, run its code behind the curtain."""
        run = loader.exec_module

        @functools.wraps(run)
        def exec_module(module: ModuleType) -> None:
            loader.__dict__.pop("exec_module", None)
            with hidden(self.is_ours):
                run(module)

        loader.__dict__["exec_module"] = exec_module
