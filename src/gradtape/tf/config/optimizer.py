"""tf.config.optimizer: options of graph optimizers, which are only remembered."""

from typing import Any

from gradtape.tf.config.runtime_setting import SETTINGS


def get_jit() -> str:
    """The setting as it was given."""
    return SETTINGS.jit


def set_jit(enabled: Any) -> None:
    """Remember whether functions would be compiled by XLA by default; they are not."""
    SETTINGS.jit = enabled if isinstance(enabled, str) else "autoclustering" if enabled else ""


def get_experimental_options() -> dict[str, Any]:
    """The options as they were given."""
    usual = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return usual | SETTINGS.options


def set_experimental_options(options: dict[str, Any]) -> None:
    """Remember options of a graph optimizer that is not there."""
    SETTINGS.options = {**SETTINGS.options, **options}
