"""tf.distribute: strategies that run a function on several replicas."""

from types import SimpleNamespace

from gradtape.core.per_replica import DistributedValues as DistributedValues
from gradtape.pipeline.distribute.distributed_dataset import (
    DistributedDataset as DistributedDataset,
)
from gradtape.pipeline.distribute.distributed_dataset import (
    DistributedIterator as DistributedIterator,
)
from gradtape.pipeline.distribute.input_context import InputContext as InputContext
from gradtape.tf.distribute import cluster_resolver as _resolver
from gradtape.tf.distribute import cross_device_ops as _ops
from gradtape.tf.distribute import multi_worker as _multi_worker
from gradtape.tf.distribute import preemption as _preemption
from gradtape.tf.distribute import refused as _refused
from gradtape.tf.distribute.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from gradtape.tf.distribute.cross_device_ops import (
    HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
)
from gradtape.tf.distribute.cross_device_ops import NcclAllReduce as NcclAllReduce
from gradtape.tf.distribute.cross_device_ops import ReductionToOneDevice as ReductionToOneDevice
from gradtape.tf.distribute.current_strategy import (
    experimental_set_strategy as experimental_set_strategy,
)
from gradtape.tf.distribute.current_strategy import get_replica_context as get_replica_context
from gradtape.tf.distribute.current_strategy import get_strategy as get_strategy
from gradtape.tf.distribute.current_strategy import has_strategy as has_strategy
from gradtape.tf.distribute.current_strategy import (
    in_cross_replica_context as in_cross_replica_context,
)
from gradtape.tf.distribute.extended import StrategyExtended as StrategyExtended
from gradtape.tf.distribute.input import InputOptions as InputOptions
from gradtape.tf.distribute.input import InputReplicationMode as InputReplicationMode
from gradtape.tf.distribute.input import RunOptions as RunOptions
from gradtape.tf.distribute.input import ValueContext as _ValueContext
from gradtape.tf.distribute.mirrored import MirroredStrategy as MirroredStrategy
from gradtape.tf.distribute.mirrored import OneDeviceStrategy as OneDeviceStrategy
from gradtape.tf.distribute.multi_worker import (
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from gradtape.tf.distribute.reduction import ReduceOp as ReduceOp
from gradtape.tf.distribute.refused import ParameterServerStrategy as ParameterServerStrategy
from gradtape.tf.distribute.replica_context import ReplicaContext as ReplicaContext
from gradtape.tf.distribute.strategy import Strategy as Strategy
from gradtape.tf.distribute.tpu import TPUClusterResolver as _TPUClusterResolver
from gradtape.tf.distribute.tpu import TPUStrategy as TPUStrategy

experimental = SimpleNamespace(
    CentralStorageStrategy=_refused.CentralStorageStrategy,
    CollectiveCommunication=_ops.CommunicationImplementation,
    CollectiveHints=_ops.CommunicationOptions,
    CommunicationImplementation=_ops.CommunicationImplementation,
    CommunicationOptions=_ops.CommunicationOptions,
    MultiWorkerMirroredStrategy=_multi_worker.ExperimentalMultiWorkerMirroredStrategy,
    ParameterServerStrategy=ParameterServerStrategy,
    PreemptionCheckpointHandler=_preemption.PreemptionCheckpointHandler,
    TerminationConfig=_preemption.TerminationConfig,
    TPUStrategy=TPUStrategy,
    ValueContext=_ValueContext,
    coordinator=SimpleNamespace(ClusterCoordinator=_refused.ClusterCoordinator),
)
coordinator = SimpleNamespace(ClusterCoordinator=_refused.ClusterCoordinator)
cluster_resolver = SimpleNamespace(
    ClusterResolver=_resolver.ClusterResolver,
    SimpleClusterResolver=_resolver.SimpleClusterResolver,
    SlurmClusterResolver=_resolver.SlurmClusterResolver,
    TPUClusterResolver=_TPUClusterResolver,
    TFConfigClusterResolver=_resolver.TFConfigClusterResolver,
    UnionResolver=_resolver.UnionResolver,
)
