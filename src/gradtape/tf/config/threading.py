"""tf.config.threading: numbers of threads; they are stored but have no effect."""

from gradtape.core.errors import public
from gradtape.tf.config.runtime_setting import RUNTIME_SETTINGS


@public
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Store the setting; NumPy decides how many threads an op uses."""
    RUNTIME_SETTINGS.intra_op_threads = num_threads


def get_intra_op_parallelism_threads() -> int:
    """The stored setting."""
    return RUNTIME_SETTINGS.intra_op_threads


@public
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Store the setting; ops run one after the other."""
    RUNTIME_SETTINGS.inter_op_threads = num_threads


def get_inter_op_parallelism_threads() -> int:
    """The stored setting."""
    return RUNTIME_SETTINGS.inter_op_threads
