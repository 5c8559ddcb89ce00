"""`install`, which makes `import tensorflow` mean gradtape in this process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

from gradtape.core.progress import ProgressBars
from gradtape.dropin import keras, missing_gradient
from gradtape.dropin.class_name import HOMES, RENAMING
from gradtape.dropin.import_block import (
    HidingFinder,
    find_importer,
    is_blocked,
    is_importer_blocked,
)
from gradtape.dropin.keras_backup import connect_backup
from gradtape.dropin.keras_recurrent import connect_recurrent_layers
from gradtape.dropin.namespace import TensorFlowNamespace
from gradtape.dropin.tensorflow_internal import EXTRA_NAMES

ROOT = "tensorflow"
missing_gradient.register()
KERAS = f"{ROOT}.keras"
JAX2TF = "jax.experimental.jax2tf"  # imports parts of TensorFlow that gradtape lacks


def is_tensorflow_module(name: str) -> bool:
    """Whether a module name is TensorFlow's or below it."""
    return name == ROOT or name.startswith(ROOT + ".")


class TensorFlowDistribution(metadata.Distribution):
    """TensorFlow's entry in `importlib.metadata`, with the version that gradtape reproduces."""

    def read_text(self, filename: str) -> str | None:
        """The METADATA with name and version; None for all other files."""
        version = sys.modules["gradtape"].__version__
        text = f"Metadata-Version: 2.1\nName: {ROOT}\nVersion: {version}\nSummary: gradtape\n"
        return text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        """Raise FileNotFoundError: gradtape's files are listed under its own name."""
        raise FileNotFoundError(f"{ROOT} is gradtape in this process, and has no file {path}.")


class TensorFlowFinder(metadata.DistributionFinder, Loader):
    """Finds `tensorflow` and its submodules in gradtape, and both names of Keras in Keras."""

    def __init__(self) -> None:
        """Create the root namespace."""
        self.root = TensorFlowNamespace(ROOT, [sys.modules["gradtape"], EXTRA_NAMES])
        self.hiding_finder = HidingFinder(is_tensorflow_module)

    def find_distributions(self, context: Any = None) -> Iterator[metadata.Distribution]:
        """TensorFlow's distribution, unless a blocked library searches for it."""
        name = getattr(context, "name", None)
        if name in (None, ROOT) and not is_importer_blocked():
            yield TensorFlowDistribution()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for TensorFlow's modules; other names go to the finder for blocked libraries."""
        if fullname in HOMES:
            return RENAMING.find_spec(fullname, path)
        if keras.is_keras_2_module(fullname) or fullname == JAX2TF:
            return ModuleSpec(fullname, self, is_package=True)
        if not is_tensorflow_module(fullname):
            if fullname == keras.LAST_MODULE and keras.BACKEND_TRAINER in sys.modules:
                keras.connect_trainer()
                connect_recurrent_layers()
                connect_backup()
            return self.hiding_finder.find_spec(fullname, path, target)
        importer, function = find_importer()
        is_query = function == "importlib.util.find_spec"
        if is_blocked(importer):
            if is_query:
                return None
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: gradtape hides itself from {importer}, "
                "which works without TensorFlow.",
                name=fullname,
            )
        if keras.is_loading():
            keras.check_version()
        if (
            fullname != KERAS
            and not fullname.startswith(KERAS + ".")
            and self.find_namespace(fullname) is None
        ):
            if is_query:
                return None
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: gradtape does not have it.", name=fullname
            )
        return ModuleSpec(fullname, self, is_package=True)

    def find_namespace(self, fullname: str) -> TensorFlowNamespace | None:
        """The namespace of this name; None if there is none."""
        found: Any = self.root
        for name in fullname.split(".")[1:]:
            found = getattr(found, name, None)
        return found if isinstance(found, TensorFlowNamespace) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The namespace itself; None for Keras, whose module `exec_module` replaces."""
        if spec.name == JAX2TF or spec.name.startswith(KERAS) or keras.is_keras_2_module(spec.name):
            return None
        return self.find_namespace(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """For Keras and jax2tf, replace the new module by Keras's own, or by gradtape's."""
        name = module.__name__
        if name == JAX2TF:
            sys.modules[name] = importlib.import_module("gradtape.interop.jax2tf")
        elif keras.is_keras_2_module(name):
            keras.fill_keras_2_module(module)
        elif name.startswith(KERAS):
            keras.import_keras()
            sys.modules[name] = importlib.import_module(
                keras.KERAS_MODULE + name.removeprefix(KERAS)
            )


class Installation:
    """The result of `install`: a context manager that uninstalls at the end of its block."""

    def __init__(self, first: bool) -> None:
        """`first` is whether this call installed gradtape."""
        self._first = first

    def __enter__(self) -> Installation:
        """Do nothing: gradtape is installed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Uninstall, if this call installed gradtape."""
        if self._first:
            uninstall()


class InstallState:
    """The installed finder."""

    finder: TensorFlowFinder | None = None


def install() -> Installation:
    """Make `import tensorflow` mean gradtape in this process, so that programs and Keras run on it.

    Returns:
        A context manager that undoes it; it may be ignored.

    Raises:
        ImportError: if the real TensorFlow is imported already.

    Example:
        >>> import gradtape
        >>> with gradtape.install():
        ...     import tensorflow
        >>> tensorflow.Tensor is gradtape.Tensor
        True
    """
    if InstallState.finder is not None:
        return Installation(first=False)
    if ROOT in sys.modules:
        raise ImportError(
            "gradtape.install: the real TensorFlow must not be imported yet. "
            "Call install() before the first `import tensorflow`, in a fresh process."
        )
    RENAMING.rename_loaded()
    InstallState.finder = TensorFlowFinder()
    sys.meta_path.insert(0, InstallState.finder)
    importlib.invalidate_caches()
    return Installation(first=True)


def uninstall() -> None:
    """Make `import tensorflow` mean TensorFlow again; modules that imported it keep gradtape.

    Returns:
        None.
    """
    if InstallState.finder is None:
        return
    sys.meta_path.remove(InstallState.finder)
    for name in [n for n in sys.modules if is_tensorflow_module(n) or keras.is_keras_2_module(n)]:
        del sys.modules[name]
    sys.modules.pop(JAX2TF, None)
    RENAMING.undo()
    InstallState.finder = None


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext gradtape`: install gradtape in this notebook, and show progress bars."""
    install()
    ProgressBars.is_shown = True


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext gradtape`: undo `%load_ext gradtape`."""
    uninstall()
    ProgressBars.is_shown = False


def keras_module() -> ModuleType:
    """Import `tf.keras`, the real Keras; installs gradtape in place of TensorFlow first."""
    keras.check_version()
    install()
    return keras.import_keras()
