"""tf.types.experimental.distributed: classes of values that replicas have."""

from gradtape.core.per_replica import Mirrored as Mirrored
from gradtape.core.per_replica import PerReplica as PerReplica
