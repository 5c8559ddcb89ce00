"""Private modules of TensorFlow that packages import, as one table.

Any other private name is a clear error: a package that needs it fails where it imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from gradtape.dropin.class_name import CLASS_ROWS


class PrivateNames(NamedTuple):
    """A row of the table.

    Attributes:
        module: the private module, below `tensorflow`.
        home: the module of gradtape that has the names, below `gradtape`.
        names: the names, with `=` and the name here if it differs.
        users: the packages that import them.
    """

    module: str
    home: str
    names: str
    users: str


TABLE = (
    PrivateNames(
        "compiler.tf2xla.python.xla", "dropin.xla_function", "dynamic_update_slice", "keras"
    ),
    PrivateNames(
        "python.autograph.pyct.transformer",
        "dropin.op_function",
        "Base=UnusedTransformer",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.data.experimental.ops.distribute",
        "pipeline.distribute.batch_size",
        "compute_batch_size",
        "keras",
    ),
    PrivateNames(
        "python.eager.context", "dropin.eager_context", "_reset_context async_wait context", "keras"
    ),
    PrivateNames(
        "python.eager.context", "tf.framework", "executing_eagerly", "pennylane, tf-keras"
    ),
    PrivateNames(
        "python.eager.tape", "dropin.eager_context", "should_record_backprop", "pennylane"
    ),
    PrivateNames(
        "python.eager.record", "dropin.eager_context", "should_record_backprop", "pennylane"
    ),
    PrivateNames(
        "python.framework.config",
        "tf.config.experimental",
        "disable_op_determinism enable_op_determinism is_op_determinism_enabled",
        "keras",
    ),
    PrivateNames("python.framework.ops", "core.tensor", "Tensor", "art, older packages"),
    PrivateNames(
        "python.framework.ops",
        "dropin.eager_context",
        "get_default_graph",
        "TensorFlow Probability",
    ),
    PrivateNames("python.framework.tensor_shape", "core.shapes", "TensorShape", "kymatio"),
    PrivateNames(
        "python.framework.tensor_shape",
        "core.shapes",
        "as_shape=TensorShape",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.framework.errors",
        "core.errors",
        "InvalidArgumentError NotFoundError",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.linalg.sparse.sparse_csr_matrix_ops",
        "dropin.csr_matrix",
        """
        csr_sparse_matrix_to_sparse_tensor=csr_to_sparse_tensor
        sparse_matrix_sparse_mat_mul=multiply_csr_matrices
        sparse_tensor_to_csr_sparse_matrix=make_csr_matrix
        """,
        "keras",
    ),
    PrivateNames("python.ops.math_ops", "tf.math.elementwise", "is_nan", "keras"),
    PrivateNames(
        "python.ops.numpy_ops.np_config",
        "tf.numpy.numpy_behavior",
        "enable_numpy_behavior=experimental_enable_numpy_behavior",
        "POT",
    ),
    PrivateNames(
        "python.ops.resource_variable_ops",
        "state.variable.variable",
        "BaseResourceVariable=Variable",
        "gpflow",
    ),
    PrivateNames("python.ops.variables", "state.variable.variable", "Variable", "gpflow"),
    PrivateNames(
        "python.trackable.data_structures",
        "state.checkpoint.trackable",
        "ListWrapper _DictWrapper",
        "keras, gpflow",
    ),
    PrivateNames("python.util.object_identity", "core.reference", "Reference", "gpflow"),
    PrivateNames(
        "python.framework.tensor_spec", "dropin.op_function", "DenseSpec", "TensorFlow Probability"
    ),
    PrivateNames(
        "python.framework.tensor_util",
        "dropin.op_function",
        "constant_value_as_shape try_evaluate_constant",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.framework.type_spec",
        "dropin.type_spec_table",
        "BatchableTypeSpec register_type_spec_from_value_converter type_spec_from_value",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.framework.type_spec",
        "tf.extension_type.spec_registry",
        "register",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.framework.type_spec_registry",
        "tf.extension_type.spec_registry",
        "_NAME_TO_TYPE_SPEC _TYPE_SPEC_TO_NAME get_name lookup register",
        "keras, TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.array_ops", "dropin.op_function", "prevent_gradient", "TensorFlow Probability"
    ),
    PrivateNames(
        "python.ops.control_flow_case",
        "dropin.op_function",
        "_case_helper=case_helper",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.control_flow_util",
        "dropin.op_function",
        "ENABLE_CONTROL_FLOW_V2 GraphOrParentsInXlaContext=is_in_xla_context",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.linalg.linear_operator",
        "dropin.op_function",
        "make_composite_tensor",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.linalg.linear_operator_addition",
        "dropin.op_function",
        "add_operators",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.nn_ops", "dropin.op_function", "Convolution", "TensorFlow Probability"
    ),
    PrivateNames(
        "python.ops.parallel_for.control_flow_ops",
        "dropin.op_function",
        "pfor",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.random_ops",
        "tf.random.distribution",
        "parameterized_truncated_normal=stateless_parameterized_truncated_normal",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.ops.resource_variable_ops",
        "dropin.type_spec_table",
        "VariableSpec",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.trackable.data_structures",
        "dropin.op_function",
        "sticky_attribute_assignment",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.util.deprecation",
        "dropin.decorator",
        "deprecated deprecated_alias deprecated_arg_values deprecated_args silence",
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.util.nest",
        "dropin.nest_function",
        """
        _is_namedtuple _sequence_like _yield_sorted_items _yield_value assert_same_structure
        assert_shallow_structure flatten flatten_up_to flatten_with_joined_string_paths
        flatten_with_tuple_paths get_traverse_shallow_structure is_nested is_nested_or_composite
        map_structure map_structure_up_to map_structure_with_tuple_paths
        map_structure_with_tuple_paths_up_to pack_sequence_as yield_flat_paths
        """,
        "TensorFlow Probability, trieste",
    ),
    PrivateNames(
        "python.util.tf_inspect", "dropin.decorator", "getfullargspec", "TensorFlow Probability"
    ),
    PrivateNames(
        "python.util.tf_inspect",
        "dropin.python_inspect",
        """
        Parameter _inspect getcallargs getdoc getfile getframeinfo getmembers getmodule getmro
        getsource getsourcefile isbuiltin isclass isframe isfunction isgenerator
        isgeneratorfunction ismethod ismodule isroutine signature stack
        """,
        "TensorFlow Probability",
    ),
    PrivateNames(
        "python.util.variable_utils",
        "dropin.type_spec_table",
        "convert_variables_to_tensors",
        "TensorFlow Probability",
    ),
)


# Modules that TensorFlow Probability imports for its auto_batching, which does not run here
EMPTY_MODULES = """
    python.autograph.converters.break_statements python.autograph.converters.continue_statements
    python.autograph.converters.return_statements python.autograph.core.converter
    python.autograph.core.naming python.autograph.pyct.anno
    python.autograph.pyct.common_transformers.anf python.autograph.pyct.compiler
    python.autograph.pyct.inspect_utils python.autograph.pyct.loader
    python.autograph.pyct.naming python.autograph.pyct.parser
    python.autograph.pyct.qual_names python.autograph.pyct.static_analysis.activity
    python.autograph.pyct.templates
"""


def find_sources() -> dict[str, dict[str, tuple[str, str]]]:
    """For each private module, the home and name of each of its names."""
    sources: dict[str, dict[str, tuple[str, str]]] = {}
    for one in CLASS_ROWS:
        module = one.module.removeprefix("tensorflow.")
        sources.setdefault(module, {})[one.shown] = (one.home, one.name)
    for row in TABLE:
        for pair in row.names.split():
            shown, _, name = pair.partition("=")
            sources.setdefault(row.module, {})[shown] = (f"gradtape.{row.home}", name or shown)
    for path in EMPTY_MODULES.split():
        sources.setdefault(path, {})
    return sources


SOURCES = find_sources()
PACKAGES = {module[:i] for module in SOURCES for i in range(len(module)) if module[i] == "."}


class PrivateModule:
    """A private module or package of TensorFlow; its names are imported on first use."""

    def __init__(self, path: str) -> None:
        """`path` is the name below `tensorflow`."""
        self._path = path

    def __getattr__(self, name: str) -> Any:
        """A name of the table, or a module below this one."""
        source = SOURCES.get(self._path, {}).get(name)
        if source is not None:
            return getattr(import_module(source[0]), source[1])
        below = f"{self._path}.{name}"
        if below in SOURCES or below in PACKAGES:
            return PrivateModule(below)
        raise AttributeError(f"tensorflow.{self._path} has no attribute {name!r} here.", name=name)

    def __dir__(self) -> list[str]:
        """The names of the table, and of the modules below this one."""
        start = self._path + "."
        below = {
            path.removeprefix(start).partition(".")[0] for path in SOURCES if path.startswith(start)
        }
        return sorted({*SOURCES.get(self._path, {}), *below})
