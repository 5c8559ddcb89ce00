"""tf.config.threading: numbers of threads, which are only remembered."""

from gradtape.tf.config.runtime_setting import SETTINGS


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Remember the setting; NumPy's own decides how many threads an op has."""
    SETTINGS.intra_op_threads = num_threads


def get_intra_op_parallelism_threads() -> int:
    """The setting as it was given."""
    return SETTINGS.intra_op_threads


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Remember the setting; ops run one after the other."""
    SETTINGS.inter_op_threads = num_threads


def get_inter_op_parallelism_threads() -> int:
    """The setting as it was given."""
    return SETTINGS.inter_op_threads
