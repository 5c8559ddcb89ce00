"""The real Keras on gradtape: the supported versions, and the module that is `tf.keras`."""

from __future__ import annotations

import functools
import importlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from gradtape.compile.engine import UndecidedJit

KERAS_MODULE = "keras._tf_keras.keras"  # the module that is `tf.keras`
MIN_VERSION, BEFORE_VERSION = (3, 15), (3, 16)


BACKEND_TRAINER = "keras.src.backend.tensorflow.trainer"  # Keras runs on its TensorFlow backend
LAST_MODULE = "keras.wrappers"  # Keras imports it when everything else is loaded


def is_loading() -> bool:
    """Whether Keras is loaded, or being loaded, in this process."""
    return "keras" in sys.modules


def check_version() -> None:
    """Raise ImportError unless a supported version of Keras is installed."""
    wanted = f"keras>={format_version(MIN_VERSION)},<{format_version(BEFORE_VERSION)}"
    try:
        version = metadata.version("keras")
    except metadata.PackageNotFoundError:
        raise ImportError(
            f"tf.keras: Keras is not installed. `pip install 'gradtape[keras]'` installs {wanted}.",
            name="keras",
        ) from None
    if not MIN_VERSION <= tuple(int(n) for n in version.split(".")[:2]) < BEFORE_VERSION:
        raise ImportError(
            f"tf.keras: gradtape needs {wanted}. Found {version}. "
            "`pip install 'gradtape[keras]'` installs a supported version.",
            name="keras",
        )


def connect_trainer() -> None:
    """Leave `jit_compile="auto"` of Keras models to gradtape's choice of the engine.

    Keras resolves "auto" to False on machines without an accelerator, because TensorFlow's XLA is
    slow there. For gradtape, False is the user's wish to run on NumPy.
    """
    trainer: Any = importlib.import_module("keras.src.trainers.trainer").Trainer
    resolve = trainer._resolve_auto_jit_compile
    if not hasattr(resolve, "__wrapped__"):

        @functools.wraps(resolve)
        def resolve_auto_jit_compile(self: Any) -> Any:
            return resolve(self) or UndecidedJit(0)

        trainer._resolve_auto_jit_compile = resolve_auto_jit_compile


def format_version(version: tuple[int, ...]) -> str:
    """Format a version, such as "3.15"."""
    return ".".join(str(n) for n in version)


def import_keras() -> ModuleType:
    """Import `tf.keras`; `install` must have been called before.

    Raises:
        ImportError: if Keras is missing, has an unsupported version, or runs on another backend.
    """
    check_version()
    with keep_global_generators():
        found = importlib.import_module(KERAS_MODULE)
    backend = importlib.import_module("keras").config.backend()
    if backend != "tensorflow":
        raise ImportError(
            f"tf.keras: Keras must run on its TensorFlow backend, which gradtape replaces. "
            f"Found {backend!r}. Set KERAS_BACKEND=tensorflow.",
            name="keras",
        )
    return found


@contextmanager
def keep_global_generators() -> Iterator[None]:
    """Scope that leaves the global generators of `random` and NumPy as they were.

    `tf.keras` is imported on first use, often after a program has set its seeds.
    """
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


KERAS_2 = "tf_keras"  # Keras 2 does not run on gradtape; packages that import it get Keras 3
KERAS_2_V1 = f"{KERAS_2}.api._v1.keras"
KERAS_2_PACKAGES = (
    *(f"{KERAS_2}.__internal__", f"{KERAS_2}.api", f"{KERAS_2}.api._v1"),
    *(f"{KERAS_2_V1}.__internal__", f"{KERAS_2_V1}.__internal__.legacy"),
)


def do_nothing(cls: type) -> None:
    """Do nothing: Keras 3 recognises symbolic tensors itself."""


def make_keras_2_optimizer(base: Any) -> type:
    """Make the class `tf_keras.optimizers.Optimizer`, whose first argument is a name.

    Every optimizer of Keras 3 is an instance of it, because `tf_keras` has those classes.
    """

    class AnyOptimizer(type(base)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, base)

    def initialize(self: Any, name: str, **options: Any) -> None:
        """Call the constructor of Keras 3, which asks for a learning rate."""
        base.__init__(self, options.pop("learning_rate", 0.0), name=name, **options)

    names = {"__init__": initialize, "__doc__": "Base class of optimizers, as in Keras 2."}
    return AnyOptimizer("Optimizer", (base,), names)


def is_keras_2_module(name: str) -> bool:
    """Whether a module name is that of Keras 2 or below it."""
    return name == KERAS_2 or name.startswith(KERAS_2 + ".")


def fill_keras_2_module(module: ModuleType) -> None:
    """Give a module of Keras 2 the names of the module of Keras 3; private packages stay empty."""
    name = module.__name__
    if name in KERAS_2_PACKAGES:
        return
    found = import_keras()
    below = name.removeprefix(KERAS_2_V1).removeprefix(KERAS_2).replace(".__internal__.legacy", "")
    if below:
        found = importlib.import_module(KERAS_MODULE + below)
    names = {key: value for key, value in vars(found).items() if not key.startswith("_")}
    module.__dict__.update(names)
    if below == ".optimizers":
        module.__dict__["Optimizer"] = make_keras_2_optimizer(found.Optimizer)
    if not below:
        module.__dict__["optimizers"] = importlib.import_module(f"{KERAS_2}.optimizers")
        internal = ModuleType(f"{KERAS_2}.__internal__")
        internal.__dict__["utils"] = SimpleNamespace(register_symbolic_tensor_type=do_nothing)
        module.__dict__.update(__internal__=internal, __version__=metadata.version("keras"))
