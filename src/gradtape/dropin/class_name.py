"""Names of gradtape's classes under the drop-in: those of TensorFlow's classes.

Packages recognise tensors by `type(x).__module__`, and pickles name classes by it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, NamedTuple

# Module below `tensorflow.python` → gradtape's module → classes. TensorFlow's name follows `=`.
# A pickle that names a class means the last one with that name.
CLASS_TABLE = {
    "checkpoint.checkpoint": {"state.checkpoint.checkpoint": "Checkpoint"},
    "checkpoint.checkpoint_management": {"state.checkpoint.manager": "CheckpointManager"},
    "checkpoint.checkpoint_options": {"state.checkpoint.checkpoint": "CheckpointOptions"},
    "checkpoint.trackable_view": {"state.checkpoint.trackable_view": "TrackableView"},
    "data.experimental.ops.readers": {"pipeline.source.csv": "CsvDataset=CsvDatasetV2"},
    "data.ops.dataset_ops": {
        "pipeline.dataset": "Dataset=DatasetV2 DatasetSpec",
        "pipeline.iterator": "NumpyIterator",
    },
    "data.ops.iterator_ops": {"pipeline.iterator": "Iterator=OwnedIterator IteratorSpec"},
    "data.ops.optional_ops": {"pipeline.optional": "Optional OptionalSpec"},
    "data.ops.options": {
        "pipeline.options": """
            AutoShardPolicy AutotuneOptions DistributeOptions ExternalStatePolicy
            OptimizationOptions Options ThreadingOptions
        """
    },
    "data.ops.readers": {
        "pipeline.source.file_dataset": """
            FixedLengthRecordDataset=FixedLengthRecordDatasetV2 TFRecordDataset=TFRecordDatasetV2
            TextLineDataset=TextLineDatasetV2
        """
    },
    "distribute.input_lib": {
        "pipeline.distribute.distributed_dataset": "DistributedDataset DistributedIterator"
    },
    "distribute.values": {
        "core.per_replica": "DistributedValues Mirrored PerReplica PerReplicaSpec"
    },
    "eager.backprop": {"tape.gradient_tape": "GradientTape"},
    "eager.context": {
        "tf.config.device": "LogicalDevice LogicalDeviceConfiguration PhysicalDevice"
    },
    "eager.forwardprop": {"tape.forward_accumulator": "ForwardAccumulator"},
    "eager.polymorphic_function.polymorphic_function": {"jit.function": "Function"},
    "eager.polymorphic_function.concrete_function": {"jit.concrete_function": "ConcreteFunction"},
    "framework.composite_tensor": {"core.composite_tensor": "CompositeTensor"},
    "framework.device_spec": {"tf.config.device_spec": "DeviceSpec=DeviceSpecV2"},
    "framework.dtypes": {"core.dtypes": "DType"},
    "framework.errors_impl": {
        "core.errors": """
            AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError
            FailedPreconditionError InternalError InvalidArgumentError NotFoundError OpError
            OperatorNotAllowedInGraphError OutOfRangeError PermissionDeniedError
            ResourceExhaustedError UnauthenticatedError UnavailableError UnimplementedError
            UnknownError
        """
    },
    "framework.indexed_slices": {"tape.indexed_slices": "IndexedSlices IndexedSlicesSpec"},
    "framework.ops": {
        "core.lazy_array": "LazyTensor=EagerTensor",
        "devices.tensor": "DeviceTensor=EagerTensor",
        "core.tensor": "EagerTensor",
        "core.symbolic_tensor": "SymbolicTensor",
        "core.name_scope": "name_scope=name_scope_v2",
        "tf.gradients": "RegisterGradient",
    },
    "framework.sparse_tensor": {"core.sparse_tensor": "SparseTensor SparseTensorSpec"},
    "framework.tensor": {
        "core.spec": "TensorSpec",
        "core.tensor": "Tensor",
    },
    "framework.tensor_shape": {"core.shapes": "Dimension TensorShape"},
    "framework.type_spec": {"core.spec": "TypeSpec"},
    "lib.io.tf_record": {"tf.io.tfrecord": "TFRecordOptions TFRecordWriter"},
    "module.module": {"state.module": "Module"},
    "ops.gradients_util": {"tf.gradients": "AggregationMethod"},
    "ops.image_ops_impl": {"tf.image.resize": "ResizeMethod"},
    "ops.init_ops_v2": {
        "tf.nn.initializer": """
            constant_initializer=Constant ones_initializer=Ones
            random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform
            zeros_initializer=Zeros
        """
    },
    "ops.linalg.linear_operator": {"tf.linalg.linear_operator.base": "LinearOperator"},
    "ops.parsing_config": {
        "tf.io.parse_example": """
            FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
        """
    },
    "ops.ragged.ragged_tensor": {
        "core.ragged.spec": "RaggedTensorSpec",
        "core.ragged.tensor": "RaggedTensor",
    },
    "ops.random_ops_util": {"state.random.generator_state": "Algorithm"},
    "ops.resource_variable_ops": {"state.variable.variable": "Variable=ResourceVariable"},
    "ops.stateful_random_ops": {"state.random.generator": "Generator"},
    "ops.tensor_array_ops": {
        "tf.array.tensor_array": "TensorArray",
        "tf.array.tensor_array_spec": "TensorArraySpec",
    },
    "ops.unconnected_gradients": {"core.enums": "UnconnectedGradients"},
    "ops.variables": {
        "core.enums": "VariableAggregation=VariableAggregationV2 VariableSynchronization"
    },
    "platform.gfile": {"tf.io.gfile": "GFile"},
    "trackable.python_state": {"state.checkpoint.python_state": "PythonState"},
}


class ClassRow(NamedTuple):
    """A class: its module and name in TensorFlow, and those in gradtape."""

    module: str
    shown: str
    home: str
    name: str


def list_class_rows() -> list[ClassRow]:
    """The table as rows."""
    return [
        ClassRow(
            f"tensorflow.python.{module}",
            pair.rpartition("=")[2],
            f"gradtape.{home}",
            pair.partition("=")[0],
        )
        for module, homes in CLASS_TABLE.items()
        for home, names in homes.items()
        for pair in names.split()
    ]


CLASS_ROWS = list_class_rows()
HOMES = frozenset(row.home for row in CLASS_ROWS)


class ClassRenaming:
    """The classes that have TensorFlow's names now, with their own names."""

    def __init__(self) -> None:
        """Start without classes."""
        self.own_names: dict[type, tuple[str, str, str]] = {}

    def rename_loaded(self, homes: Iterable[str] = HOMES) -> None:
        """Rename the classes of these modules, as far as they are imported."""
        for row in CLASS_ROWS:
            cls = getattr(sys.modules.get(row.home), row.name, None) if row.home in homes else None
            if cls is not None:
                self.own_names.setdefault(cls, (cls.__module__, cls.__name__, cls.__qualname__))
                cls.__module__ = row.module
                cls.__name__ = cls.__qualname__ = row.shown

    def undo(self) -> None:
        """Give all classes their own names again."""
        for cls, (module, name, qualname) in self.own_names.items():
            cls.__module__, cls.__name__, cls.__qualname__ = module, name, qualname
        self.own_names.clear()

    def find_spec(self, home: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """The spec of a module of the table, whose loader renames its classes."""
        spec = PathFinder.find_spec(home, path)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                self.rename_loaded((home,))

            loader.exec_module = exec_module
        return spec


RENAMING = ClassRenaming()
