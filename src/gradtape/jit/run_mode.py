"""How functions run in this process: compiled, or as the Python functions they wrap."""

from __future__ import annotations

from gradtape.core.errors import public
from gradtape.core.ledger import ledger
from gradtape.core.ports import devices
from gradtape.core.replica import parallel_runs


class RunMode:
    """How functions run in this process.

    Attributes:
        eager: whether functions just call the Python function they wrap.
        quick: whether calls may use the fast path; not while accelerators are in use, while
            several replicas run, nor while the ledger is written.
    """

    eager = False
    quick = True

    @classmethod
    def update_quick(cls) -> None:
        """Update `quick` after a change."""
        busy = devices.active or parallel_runs[0] or ledger.active
        cls.quick = not cls.eager and not busy


devices.observers.append(RunMode.update_quick)
ledger.observers.append(RunMode.update_quick)


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
