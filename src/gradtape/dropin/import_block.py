"""Hides TensorFlow from libraries that test for it and then use parts that gradtape lacks.

While a module of such a library is imported, `tensorflow` cannot be found by `import` or
`find_spec`. `importlib.metadata` hides it from these libraries at all times. A library that
imports TensorFlow inside a function, when the function is called, gets gradtape.
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

BLOCKED_LIST = """
    accelerate clearml comet_ml datasets diffusers evaluate fastai flax huggingface_hub lightning
    mlflow neptune onnx onnxruntime optuna orbax peft pytorch_lightning ray sentence_transformers
    shap skl2onnx tensorboard tensorboardX tensorboard_plugin_profile tf2onnx torch torchvision
    transformers wandb
"""
BLOCKED_LIBRARIES = frozenset(BLOCKED_LIST.split())
# Parts of blocked libraries that need TensorFlow and find what they need
ALLOWED_PARTS = ("tensorboard.plugins.hparams",)  # Keras Tuner
IMPORT_MODULES = ("importlib", "gradtape.dropin", "_frozen_importlib", "runpy", "pkgutil")


def is_blocked(name: str) -> bool:
    """Whether a module belongs to a blocked library."""
    return name.partition(".")[0] in BLOCKED_LIBRARIES and not name.startswith(ALLOWED_PARTS)


def find_importer() -> tuple[str, str]:
    """The module that triggered an import, and the import function that it called."""
    frame: FrameType | None = sys._getframe(1)
    function = ""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith(IMPORT_MODULES) and name != "tensorflow":
            return name, function
        function = f"{name}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "", function


def is_importer_blocked() -> bool:
    """Whether the calling module belongs to a blocked library."""
    return is_blocked(find_importer()[0])


@contextmanager
def hide_modules(is_ours: Callable[[str], bool]) -> Iterator[None]:
    """Scope in which TensorFlow's modules are removed from `sys.modules`."""
    with MODULES_LOCK:
        modules = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    try:
        yield
    finally:
        with MODULES_LOCK:
            for name in [name for name in sys.modules if is_ours(name)]:
                modules.setdefault(name, sys.modules[name])
            sys.modules.update(modules)


MODULES_LOCK = Lock()


class HidingFinder(importlib.abc.MetaPathFinder):
    """Finder for blocked libraries: uses other finders, and hides TensorFlow while modules load."""

    def __init__(self, is_ours: Callable[[str], bool]) -> None:
        """`is_ours` tells whether a module name is TensorFlow's."""
        self.is_tensorflow = is_ours

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of another finder, with a loader that hides TensorFlow."""
        if not is_blocked(fullname):
            return None
        for finder in sys.meta_path:
            if finder is self or getattr(finder, "hiding_finder", None) is self:
                continue
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "__dict__"):
                    self.hide_while_loading(spec.loader)
                return spec
        return None

    def hide_while_loading(self, loader: Any) -> None:
        """Make this loader, which belongs to one module, run its code with TensorFlow hidden."""
        run = loader.exec_module

        @functools.wraps(run)
        def exec_module(module: ModuleType) -> None:
            loader.__dict__.pop("exec_module", None)
            with hide_modules(self.is_tensorflow):
                run(module)

        loader.__dict__["exec_module"] = exec_module
