"""Generated functions do what `bind` does; the sweep tests the same for all primitives."""

import ast
import importlib
import inspect
import operator
import pkgutil
import textwrap

import numpy as np
import pytest

import gradtape
from gradtape import ops
from gradtape.core.context import use_recorders
from gradtape.core.dispatch import TapeRecord, bind
from gradtape.core.fastpath.codegen import make_public_function
from gradtape.core.fastpath.kernel_source import OPERATORS, kernel_expression
from gradtape.core.primitive import REGISTRY
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.ops.elementwise import add, multiply
from gradtape.tape import backward as backward  # registers `make_step`

for module in pkgutil.walk_packages(ops.__path__, "gradtape.ops."):
    importlib.import_module(module.name)  # registers every primitive

FLOAT32 = frozenset({np.dtype("float32")})


def record_watching(*tensors):
    record = TapeRecord()
    for t in tensors:
        record.watch(t.uid)
    return record


def test_all_three_forms_record_equal_entries():
    x, y = (make_tensor(np.float32([1, 2])) for _ in range(2))
    public = make_public_function(multiply.op, FLOAT32, None)
    for watched in ((x,), (y,), (x, y)):
        found = []
        for form in (multiply, public, lambda a, b: bind(multiply.op, (a, b), {})):
            record = record_watching(*watched)
            with use_recorders((record,)):
                out = form(x, y)
            assert out.numpy().tolist() == [1, 4]
            found.append(record[out.uid])
        assert found[0] == found[1] == found[2]


def test_the_same_tensor_twice_is_watched_twice():
    x = make_tensor(np.float32([1, 2]))
    for form in (multiply, make_public_function(multiply.op, FLOAT32, None)):
        record = record_watching(x)
        with use_recorders((record,)):
            out = form(x, x)
        assert record[out.uid][1:3] == (x.uid, x.uid)


def test_other_arguments_are_converted_first():
    public = make_public_function(add.op, FLOAT32, lambda x, y: ("converted", x, y))
    x, wide = make_tensor(np.float32(1)), make_tensor(np.float64(1))
    assert public(wide, wide) == ("converted", wide, wide)
    assert public(x, wide) == ("converted", x, wide)
    assert public(x, "1")[0] == public([1.0], x)[0] == public(x, True)[0] == "converted"
    assert isinstance(public(x, 1), Tensor)
    assert isinstance(public(1.5, x), Tensor)


@pytest.mark.parametrize("number", [3, 0.75])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "mod", "floordiv"])
def test_a_python_number_counts_as_a_tensor_of_the_same_dtype(name, number):
    operate = getattr(operator, name)
    for dtype in ("float16", "float32", "float64"):
        x = make_tensor(np.array([1.5, 2.5], dtype))
        for swapped in (False, True):
            found = []
            for other in (number, make_tensor(x._array.dtype.type(number))):
                with gradtape.GradientTape() as tape:
                    tape.watch(x)
                    y = operate(other, x) if swapped else operate(x, other)
                g = tape.gradient(y, x)
                found.append(
                    (y.dtype, y.numpy().tolist(), g is not None and (g.dtype, g.numpy().tolist()))
                )
            assert found[0] == found[1]


def test_reflected_swaps_the_operands():
    minus = REGISTRY["subtract"]
    forwards = make_public_function(minus, FLOAT32, None)
    backwards = make_public_function(minus, FLOAT32, None, reflected=True)
    x, y = make_tensor(np.float32(5)), make_tensor(np.float32(3))
    assert forwards(x, y).numpy() == 2
    assert backwards(x, y).numpy() == -2
    assert backwards(x, 3).numpy() == -2


@pytest.mark.parametrize(
    "number", [0.1, -0.0, 0.0, 3, -7, 2**24 + 1, 1e39, 1e-46, float("nan"), float("-inf")]
)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow"])
def test_a_python_number_takes_the_dtype_of_the_array(name, number):
    x = np.float32([[1.5, -2.0, 0.0], [np.inf, np.nan, -0.0]])
    operation, tensor = getattr(operator, name), gradtape.constant(x)
    for a, b in ((tensor, number), (number, tensor)):
        with np.errstate(all="ignore"):
            want = operation(*(np.float32(v) if v is number else x for v in (a, b)))
        for _ in range(2):  # the second call finds the number in the cache
            got = operation(a, b).numpy()
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def returned_expression(kernel):
    """The source of what a kernel returns if that is all it does, else None."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(kernel))).body
    documented = isinstance(function.body[0], ast.Expr)
    statements = function.body[documented:]
    if len(statements) == 1 and isinstance(statements[0], ast.Return):
        return ast.unparse(statements[0].value)
    return None


def spellings_of(ufunc, names):
    """The expressions that apply a ufunc to these names."""
    called = {f"np.{name}({', '.join(names)})" for name in dir(np) if getattr(np, name) is ufunc}
    operator = OPERATORS.get(ufunc)
    return called if operator is None else {ast.unparse(ast.parse(operator.format(*names)))}


@pytest.mark.parametrize("op", [op for op in REGISTRY.values() if op.ufunc], ids=lambda op: op.name)
def test_a_kernel_equals_the_ufunc_that_it_declares(op):
    assert op.ufunc.nin == len(op.inputs)
    assert not op.statics
    assert returned_expression(op.kernel) in spellings_of(op.ufunc, op.inputs)


def test_every_kernel_that_is_a_ufunc_declares_it():
    ufuncs = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    spelled = {
        names: {text for f in ufuncs if f.nin == len(names) for text in spellings_of(f, names)}
        for names in {op.inputs for op in REGISTRY.values() if len(op.inputs) < 3}
    }
    undeclared = [
        op.name
        for op in REGISTRY.values()
        if op.ufunc is None and returned_expression(op.kernel) in spelled.get(op.inputs, ())
    ]
    assert undeclared == []


def test_operators_are_inlined_and_other_ufuncs_are_called():
    assert kernel_expression(REGISTRY["multiply"], ("a", "b")) == "a * b"
    assert kernel_expression(REGISTRY["square"], ("a",)) == "a * a"
    assert kernel_expression(REGISTRY["tanh"], ("a",)) == "kernel(a)"
    assert REGISTRY["tanh"].ufunc is np.tanh
    assert REGISTRY["sigmoid"].ufunc is None
