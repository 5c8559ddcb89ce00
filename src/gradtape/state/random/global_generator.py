"""The global random generator."""

from __future__ import annotations

from gradtape.core.errors import public
from gradtape.state.random.generator import Generator
from gradtape.state.random.seed import SEEDS


class GlobalGenerator:
    """Holds the global generator."""

    generator: Generator | None = None


@public
def get_global_generator() -> Generator:
    """The global generator; the first call makes it with a random state.

    Returns:
        A Generator.

    Raises:
        RuntimeError: if there is none, and determinism is enabled.

    Example:
        >>> tf.random.get_global_generator().normal([2]).shape
        TensorShape([2])
    """
    if GlobalGenerator.generator is None:
        if SEEDS.are_required:
            raise RuntimeError(
                '"get_global_generator" cannot be called if determinism is enabled, unless '
                '"set_global_generator" has already been called.'
            )
        GlobalGenerator.generator = Generator.from_non_deterministic_state()
    return GlobalGenerator.generator


@public
def set_global_generator(generator: Generator) -> None:
    """Make `generator` the global generator.

    Args:
        generator: a Generator.

    Returns:
        None.
    """
    GlobalGenerator.generator = generator
