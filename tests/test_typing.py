"""Type checkers know every public name and its return type."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gradtape
from gradtape.core.tensor import MISSING_ATTRIBUTES
from tests.public_api import of_gradtape

pytestmark = pytest.mark.xdist_group("typing")  # mypy runs once
SOURCES = Path(gradtape.__file__).parents[1]
MISSING = "tf.no_such_name"
CLASSES = ("Tensor", "Variable", "GradientTape")
REVEALED = re.compile(r'names\.py:(\d+): note: Revealed type is "(.*)"')
ERROR = re.compile(r"names\.py:(\d+): error: (.*)")

# The type of the result depends on the type or structure of an argument.
DEPENDENT = re.compile(r"""
    func\.\w+ |
    GradientTape\.(gradient|jacobian|batch_jacobian) | autodiff\.ForwardAccumulator\.jvp
    | (custom_gradient|grad_pass_through|recompute_grad|function|Module\.with_name_scope)
    | (cond|case|switch_case|while_loop|foldl|foldr|map_fn|scan|vectorized_map)
    | (gradients|hessians|get_static_value|tuple|numpy_function|py_function)
    | nest\.(map_structure|pack_sequence_as) | data\.(Dataset|Iterator)\.(reduce|get_next)
    | data\.(Dataset|experimental)\.(at|get_single_element|get_structure)
    | data\.experimental\.Reducer\.\w+_func
    | linalg\.(svd|eigh_tridiagonal)
    | Variable\.(numpy|assign\w*|batch_scatter_update|scatter_\w+)
    | \w+Spec\.most_specific_\w+ | (\w+\.)*\w+_initializer\.from_config | TensorArray\.grad
    | test\.(disable_with_predicate|with_eager_op_as_function)
    | autograph\.to_graph | io\.gfile\.GFile\.(name|next|read|readline)
    | linalg\.LinearOperator\.(matmul|solve|with_name_scope)
    | train\.(Checkpoint\.(read|restore|save_counter)|get_checkpoint_state|load_variable)
    | autograph\.experimental\.do_not_convert
    | RaggedTensor\.(merge_dims|numpy|row_lengths|to_sparse|values)
    | RaggedTensorSpec\.flat_values_spec
    | ragged\.(boolean_mask|constant|map_flat_values|stack)
    | strings\.(bytes_split|split|unicode_(decode|split)(_with_offsets)?)
    | experimental\.numpy\.(atleast_.d|average|linspace|promote_types|size|where)
    """, re.VERBOSE)  # fmt: skip
# Attributes of classes without a declared type.
UNTYPED = re.compile(r"""
    DType\.(as_numpy_dtype|max|min) | IndexedSlices\.(dense_shape|graph|indices|op|values)
    | io\.\w+Feature\.(default_value|dtype|index_key|shape|size)
    | train\.(BytesList|Example|Features?|FeatureLists?|FloatList|Int64List|SequenceExample)
    | GradientTape\.(explain|memory|summary) | make_tensor_proto
    | (\w+\.)+(value_type|element_spec|get_value) | errors\.\w+\.(node_def|op)
    """, re.VERBOSE)  # fmt: skip


def public_names():
    """Dotted names: those of the listing, NumPy's names, and methods with operators."""
    names = dict(of_gradtape())
    numpy = gradtape.experimental.numpy
    for name, value in vars(numpy).items():
        if not name.startswith("_") and not isinstance(value, ModuleType):
            names[f"experimental.numpy.{name}"] = value
    for name in CLASSES:
        for member, value in inspect.getmembers(getattr(gradtape, name)):
            if not member.startswith("_") and member not in MISSING_ATTRIBUTES:
                names.setdefault(f"{name}.{member}", value)
    return names


NAMES = public_names()
EXPRESSIONS = {
    "tf.constant([1.0]) + 1": "Tensor",
    "2 * tf.constant([1.0])": "Tensor",
    "-tf.constant([1.0])": "Tensor",
    "tf.constant([[1.0]]) @ tf.constant([[1.0]])": "Tensor",
    "tf.constant([1.0])[0]": "Tensor",
    "tf.constant([1.0]) < 2": "Tensor",
    "tf.constant([1.0]).shape": "TensorShape",
    "tf.constant([1.0]).dtype": "DType",
    "tf.constant([1.0]).numpy()": "ndarray[Any, Any]",
    "tf.Variable(1.0).numpy()": "ndarray[Any, Any]",
    "tf.Variable(1.0).assign_add(1.0)": "Variable",
    "tf.function(str.upper)('a')": "str",
    "tf.function(jit_compile=True)(len)([1])": "int",
    "tf.function(len).python_function([1])": "int",
    "tf.function(len).get_concrete_function()": "ConcreteFunction",
    "tf.GradientTape().gradient(1, tf.constant(1.0))": "Tensor",
    "tf.GradientTape().gradient(1, tf.Variable(1.0))": "Tensor",
    "tf.GradientTape().gradient(1, [tf.constant(1.0)])[0]": "Tensor",
    "tf.GradientTape().gradient(1, (tf.constant(1.0),))[0]": "Tensor",
    "tf.GradientTape().jacobian(1, {'a': tf.constant(1.0)})['a']": "Tensor",
    "tf.GradientTape().batch_jacobian(1, tf.constant(1.0))": "Tensor",
    "tf.Variable(1.0) ** 2": "Tensor",
    "1 - tf.Variable(1.0)": "Tensor",
    "tf.Variable(1.0).read_value()": "Tensor",
    "tf.Variable(1.0).dtype": "DType",
    "tf.GradientTape().__enter__()": "GradientTape",
    "tf.cast([1.0], tf.int32)": "Tensor",
    "tf.square(3.0)": "Tensor",
    "tf.reduce_sum([1.0], axis=0)": "Tensor",
    "tf.nn.relu(features=[1.0])": "Tensor",
    "tf.data.Dataset.range(3).batch(2)": "Dataset[Tensor]",
}


def run_mypy(expressions, folder):
    """The types and errors that mypy, run as in `make types`, reports for each expression."""
    path = folder / "names.py"
    lines = [f"reveal_type({text})" for text in expressions]
    path.write_text("\n".join(["import gradtape as tf", *lines, ""]))
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\nstrict = True\nfollow_imports = silent\n")
    answer = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", folder, path],
        env={"MYPYPATH": str(SOURCES)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not answer.stderr, answer.stderr
    types = {expressions[int(n) - 2]: text for n, text in REVEALED.findall(answer.stdout)}
    errors = {expressions[int(n) - 2]: text for n, text in ERROR.findall(answer.stdout)}
    return types, errors


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    pytest.importorskip("mypy")
    expressions = [f"tf.{name}" for name in NAMES]
    return run_mypy([*expressions, *EXPRESSIONS, MISSING], tmp_path_factory.mktemp("types"))


def test_every_public_name_resolves(answers):
    types, errors = answers[0], dict(answers[1])
    assert errors[MISSING].startswith("Module has no attribute")
    del errors[MISSING]
    # mypy reports an error for attributes of `__slots__` on the class, but reveals their type
    assert {n: text for n, text in errors.items() if "instance-only" not in text} == {}
    assert {f"tf.{name}" for name in NAMES} <= set(types)


def test_no_public_name_has_the_type_any(answers):
    types, _ = answers
    anything = [name for name in NAMES if types[f"tf.{name}"] == "Any"]
    assert [name for name in anything if not UNTYPED.fullmatch(name)] == []


def test_functions_have_a_known_return_type(answers):
    types, _ = answers
    known = re.compile(f"({DEPENDENT.pattern})|({UNTYPED.pattern})", re.VERBOSE)
    vague = [name for name in NAMES if types[f"tf.{name}"].endswith("-> Any")]
    assert [name for name in vague if not known.fullmatch(name)] == []


def test_parameters_of_public_functions_are_typed():
    silent = []
    for name, value in NAMES.items():
        ours = inspect.isfunction(value) and value.__module__.startswith("gradtape.")
        if ours and not hasattr(value, "__signature__"):  # and not a generated one
            parameters = list(inspect.signature(value).parameters.values())
            silent += [f"{name}({p})" for p in parameters if untyped(p)]
    assert silent == []


def untyped(parameter):
    """Whether a parameter has no annotation."""
    return parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")


def test_public_functions_are_documented():
    functions = [name for name, value in NAMES.items() if inspect.isroutine(value)]
    assert [name for name in functions if not inspect.getdoc(NAMES[name])] == []
    assert len(functions) > 700


METHODS = """
import gradtape as tf

class Model(tf.Module):
    @tf.function
    def __call__(self, x: tf.Tensor, n: int = 1) -> tf.Tensor:
        return x * n

    @tf.function(input_signature=[tf.TensorSpec([])])
    def split(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return x, x

x = tf.constant(1.0)
a: tf.Tensor = Model()(x, n=2)
b: tuple[tf.Tensor, tf.Tensor] = Model().split(x)
Model()(x, m=2)  # error
Model().split(x, x)  # error
"""


def test_a_compiled_method_keeps_its_signature(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "model.py"
    path.write_text(METHODS)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent", str(path)]
    done = subprocess.run(
        [*command, "--cache-dir", str(tmp_path)],
        env={"MYPYPATH": str(SOURCES)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = [int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line]
    assert wrong == [
        n for n, line in enumerate(METHODS.splitlines(), 1) if line.endswith("# error")
    ], done.stdout


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_common_expressions_have_a_type(text, answers):
    types, errors = answers
    assert text not in errors
    assert re.sub(r"(\w+\.)+", "", types[text]) == EXPRESSIONS[text]


def test_the_program_of_a_user_has_the_types_it_names(tmp_path):
    pytest.importorskip("mypy")
    program = Path(__file__).parent / "typing" / "user_program.py"
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports", "silent"]
    done = subprocess.run(
        [*command, "--cache-dir", str(tmp_path), str(program)],
        env={"MYPYPATH": str(SOURCES)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
