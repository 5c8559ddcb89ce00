"""tf.config.threading: numbers of threads, for matrix products and between ops."""

from gradtape.core.blas_thread import limit_blas_threads
from gradtape.core.errors import public
from gradtape.tf.config.runtime_setting import RUNTIME_SETTINGS


@public
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Set the number of threads of a matrix product or convolution; 0: the default, one.

    Functions that were compiled before keep running in the threads that they had.

    Args:
        num_threads: a number, at least 0.

    Returns:
        None.
    """
    RUNTIME_SETTINGS.intra_op_threads = num_threads
    limit_blas_threads(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """The number that was set, 0 by default.

    Returns:
        An integer.
    """
    return RUNTIME_SETTINGS.intra_op_threads


@public
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Store the setting; ops run one after the other.

    Args:
        num_threads: a number, at least 0.

    Returns:
        None.
    """
    RUNTIME_SETTINGS.inter_op_threads = num_threads


def get_inter_op_parallelism_threads() -> int:
    """The stored setting.

    Returns:
        An integer.
    """
    return RUNTIME_SETTINGS.inter_op_threads
