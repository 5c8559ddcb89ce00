"""Enumerations for arguments of public functions."""

from enum import Enum


class UnconnectedGradients(Enum):
    """The gradient of a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


class VariableSynchronization(Enum):
    """When the copies of a distributed variable are aggregated."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """How the copies of a distributed variable are combined.

    TensorFlow has a second class, VariableAggregationV2, with equal members; here they are one.
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
