"""How functions run in this process: compiled, or as the Python functions they wrap."""

from __future__ import annotations

from gradtape.core.errors import public
from gradtape.core.ports import devices
from gradtape.core.replica import parallel_runs


class RunMode:
    """How functions run in this process.

    Attributes:
        eager: whether functions just call the Python function they wrap.
        quick: whether calls may use the fast path; not while accelerators are in use, nor while
            several replicas run.
    """

    eager = False
    quick = True

    @classmethod
    def update_quick(cls) -> None:
        """Update `quick` after a change."""
        cls.quick = not cls.eager and not devices.active and not parallel_runs[0]


devices.observers.append(RunMode.update_quick)


@public
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Choose whether every `tf.function` just calls the Python function it wraps.

    Args:
        run_eagerly: True to run functions eagerly, False to compile them.

    Returns:
        None.

    Example:
        >>> tf.config.run_functions_eagerly(True)
        >>> tf.config.functions_run_eagerly()
        True
        >>> tf.config.run_functions_eagerly(False)
    """
    RunMode.eager = bool(run_eagerly)
    RunMode.update_quick()


def functions_run_eagerly() -> bool:
    """Whether every `tf.function` just calls the Python function it wraps.

    Returns:
        A bool.

    Example:
        >>> tf.config.functions_run_eagerly()
        False
    """
    return RunMode.eager
