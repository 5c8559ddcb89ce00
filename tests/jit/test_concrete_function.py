"""Concrete functions: their signatures, graphs and errors, and that they avoid extra traces."""

import pytest

import gradtape as tf


@tf.function
def positive(x):
    return x if x > 0 else -x


def test_ragged_and_sparse_arguments():
    increment = tf.function(lambda x: x + 1)
    ragged = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    for given in (ragged, tf.RaggedTensorSpec([None, None], tf.int32)):
        concrete = increment.get_concrete_function(given)
        assert concrete(ragged).to_list() == [[2, 3], [4], [5, 6, 7]]
        assert isinstance(concrete.structured_input_signature[0][0], tf.RaggedTensorSpec)
    double = tf.function(lambda x: tf.sparse.to_dense(x) * 2.0)
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 3.0]])
    for given in (sparse, tf.SparseTensorSpec([None, None], tf.float32)):
        concrete = double.get_concrete_function(given)
        assert concrete(sparse).numpy().tolist() == [[2.0, 0.0], [0.0, 6.0]]


def test_the_graph_of_a_loop_over_a_dataset_does_not_depend_on_its_length():
    @tf.function
    def total(dataset):
        loss = tf.constant(0)
        for x, y in dataset:
            loss += tf.abs(y - x)
        return loss

    def pairs(count):
        drawn = []

        def draw():
            drawn.append(count)
            return iter([(1, 3)] * count)

        return tf.data.Dataset.from_generator(draw, (tf.int32, tf.int32)), drawn

    sizes = set()
    for count in (3, 10):
        dataset, drawn = pairs(count)
        concrete = total.get_concrete_function(dataset)
        sizes.add(len(concrete.graph.as_graph_def().node))
        assert not drawn  # tracing draws no element
        assert [int(total(dataset)) for _ in range(3)] == [2 * count] * 3
        assert int(concrete(dataset)) == 2 * count
    assert len(sizes) == 1
    assert sizes.pop() > 2


def test_a_function_that_branches_on_values_has_structured_outputs():
    concrete = positive.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert concrete.structured_outputs == tf.TensorSpec([], tf.float32)
    given = positive.get_concrete_function(tf.constant(-3))
    assert given.structured_outputs == tf.TensorSpec([], tf.int32)
    assert "greater" in given.graph.pretty()  # one of the paths
    assert int(given(tf.constant(4))) == 4


def test_a_loop_on_values_has_structured_outputs():
    @tf.function
    def shrink(x):
        while tf.reduce_sum(x) > 1:
            x = tf.tanh(x)
        return x

    concrete = shrink.get_concrete_function(tf.TensorSpec([3]))
    assert concrete.structured_outputs == tf.TensorSpec([3])


def test_getting_a_concrete_function_has_no_side_effects():
    v, called = tf.Variable(1), []

    @tf.function
    def f(x):
        tf.print("happening")
        tf.numpy_function(lambda: called.append(1), [], [])
        if x > 0:
            v.assign_add(1)
        return x

    f.get_concrete_function(tf.TensorSpec([]))
    assert int(v) == 1
    assert called == []


def test_an_existing_trace_is_reused():
    runs = []
    f = tf.function(lambda x: runs.append(1) or x + x)
    f(tf.constant(1.0))
    concrete = f.get_concrete_function(tf.TensorSpec([]))
    assert f.get_concrete_function(tf.constant(2.0)).structured_outputs == tf.TensorSpec([])
    assert float(concrete(tf.constant(2.0))) == 4.0
    assert runs == [1]


def test_signatures_are_printed_as_by_tensorflow():
    def double(a):
        return a + a

    f = tf.function(double)
    for x in (tf.constant(1), tf.constant(1.0), tf.constant(2)):
        f(x)
    first, second = f.pretty_printed_concrete_signatures().split("\n\n")
    assert "tf.float32" in second
    assert first == (
        "Input Parameters:\n"
        "  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(), dtype=tf.int32, name=None)\n"
        "Output Type:\n"
        "  TensorSpec(shape=(), dtype=tf.int32, name=None)\n"
        "Captures:\n"
        "  None"
    )
    spec = "TensorSpec(shape=(), dtype=tf.string, name=None)"
    concrete = f.get_concrete_function(tf.constant("a"))
    assert str(concrete.function_type) == f"(a: {spec}) -> {spec}"
    assert concrete.inference_fn(tf.constant("b")) == b"bb"


def test_an_unknown_rank_stays_unknown():
    power = tf.function(lambda a, b: a**b)
    square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
    assert square.structured_outputs.shape.rank is None
    assert float(square(tf.constant(10.0))) == 100.0
    with pytest.raises(TypeError, match=r"Can not cast 3 to Literal\[2\]"):
        square(tf.constant(10.0), b=3)


def test_a_graph_lists_its_nodes():
    add = tf.function(lambda a: a + a + 1.0)
    nodes = add.get_concrete_function(tf.TensorSpec([])).graph.as_graph_def().node
    named = {node.name: node for node in nodes}
    assert [nodes[0].name, nodes[0].op] == ["a", "Placeholder"]
    assert named["add"].input == ["a", "a"]
    assert named["add_1"].input[0] == "add"
    assert nodes[-1].input == ["add_1"]
    assert 'name: "add_1"' in str(nodes[-2])


def test_tracing_types_decide_which_objects_share_a_trace():
    class Kind(tf.types.experimental.TraceType):
        def __init__(self, of):
            self.of = type(of)

        def is_subtype_of(self, other):
            return self == other

        def most_specific_common_supertype(self, others):
            return None

        def placeholder_value(self, placeholder_context=None):
            return None

        def __eq__(self, other):
            return type(other) is Kind and self.of is other.of

        def __hash__(self):
            return hash(self.of)

    class Fruit:
        weight = 1

        def __tf_tracing_type__(self, context):
            return Kind(self)

    class Mango(Fruit):
        weight = 2

    f = tf.function(lambda a, b: tf.constant(a.weight) + b.weight)
    assert [int(f(Fruit(), Mango())) for _ in range(2)] == [3, 3]
    assert f.experimental_get_tracing_count() == 1
    assert int(f(Mango(), Mango())) == 4


def test_variables_are_created_by_one_trace_and_used_by_the_next():
    made = []

    @tf.function
    def f(x):
        if not made:
            made.append(tf.Variable(3.0))
        return x * made[0]

    concrete = f.get_concrete_function(tf.TensorSpec([]))
    assert list(concrete.variables) == made
    assert float(concrete(tf.constant(2.0))) == 6.0
    assert f.experimental_get_tracing_count() == 2


def test_initial_values_of_variables_are_computed_while_only_specs_are_known():
    made = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        if not made:
            made.append(tf.Variable(tf.random.normal([3, 2], seed=1) * 2.0))
        return x @ made[0]

    assert f.get_concrete_function().structured_outputs == tf.TensorSpec([None, 2])
    assert made[0].shape == (3, 2)
    assert f(tf.ones([4, 3])).shape == (4, 2)


def test_sizes_of_two_arguments_that_must_be_equal():
    f = tf.function(lambda x, y: tf.linalg.LinearOperatorDiag(x).matvec(y))
    spec = tf.TensorSpec([None])
    assert f.get_concrete_function(spec, spec).structured_outputs == spec


def test_errors_of_ops_are_raised_where_no_size_fits():
    f = tf.function(lambda x: x + tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        f.get_concrete_function(tf.TensorSpec([None, 4]))


def test_an_argument_of_unknown_rank_has_results_of_unknown_rank():
    f = tf.function(lambda x: (tf.nn.relu(x) + 1.0, tf.reduce_sum(x), tf.shape(x)))
    relu, total, shape = f.get_concrete_function(tf.TensorSpec(None)).structured_outputs
    assert relu.shape.rank is None
    assert total.shape.rank == 0
    assert shape.shape.as_list() == [None]
