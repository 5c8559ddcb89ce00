"""tf.config.optimizer: options of graph optimizers; they are stored but have no effect."""

from typing import Any

from gradtape.core.argument import check_instance
from gradtape.core.errors import public
from gradtape.tf.config.runtime_setting import RUNTIME_SETTINGS


def get_jit() -> str:
    """The stored setting.

    Returns:
        A string: "", or "autoclustering".
    """
    return RUNTIME_SETTINGS.jit


@public
def set_jit(enabled: Any) -> None:
    """Store whether XLA should compile functions by default; it has no effect.

    Args:
        enabled: a bool or "autoclustering".

    Returns:
        None.
    """
    RUNTIME_SETTINGS.jit = (
        enabled if isinstance(enabled, str) else "autoclustering" if enabled else ""
    )


def get_experimental_options() -> dict[str, Any]:
    """The stored options.

    Returns:
        A dict.
    """
    defaults = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return defaults | RUNTIME_SETTINGS.options


@public
def set_experimental_options(options: dict[str, Any]) -> None:
    """Store options of TensorFlow's graph optimizer; they have no effect.

    Args:
        options: a dict from names of options to bools.

    Returns:
        None.
    """
    check_instance(options, dict, "options")
    RUNTIME_SETTINGS.options = {**RUNTIME_SETTINGS.options, **options}
