"""gradtape from scratch: the core in one file, to be read from top to bottom.

Each section builds one idea and checks it. "Full version" names the files of src/gradtape that hold
the same idea with dtypes, devices, error messages and speed. There are few further ideas.

    python docs/from_scratch.py     # prints the lines that are marked # prints: below
"""

import inspect
import itertools
from collections import namedtuple
from types import FunctionType, SimpleNamespace

import numpy as np

# 1. Tensor: an immutable handle on an array, with a unique integer, its `uid`. Tapes refer to
# tensors by uid and store nothing on them, so tapes and threads can share a tensor.
# Full version: core/tensor.py

next_uid = itertools.count(1).__next__


class Tensor:
    __slots__ = ("_array", "uid")

    def __init__(self, array):
        self._array = array
        self.uid = next_uid()


def unwrap(x):
    """The raw array of a Tensor; anything else unchanged."""
    return x._array if isinstance(x, Tensor) else x


# 2. Primitive: a kernel (a pure NumPy function) with one vjp rule for each input. A rule maps the
# cotangent `g` of the output to the cotangent of its input. Its other parameters name the values
# that it reads, the residuals: an input, the output `out`, a static (keyword-only) parameter, or
# `x_spec`, the shape and dtype of `x` without its data. A tape keeps these and nothing else.
# Full version: core/primitive.py


class Primitive:
    def __init__(self, kernel, rules, elementwise):
        self.name, self.kernel, self.rules = kernel.__name__, kernel, rules
        self.elementwise = elementwise  # its operands broadcast
        parameters = inspect.signature(kernel).parameters.values()
        self.inputs = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        self.residuals = {n: list(inspect.signature(r).parameters)[1:] for n, r in rules.items()}

    def __call__(self, *args, **static):
        if any(isinstance(a, Tensor) for a in args):
            return bind(self, args, static)
        return self.kernel(*args, **static)  # on raw arrays a primitive is its kernel


def primitive(elementwise=False, **rules):
    return lambda kernel: Primitive(kernel, rules, elementwise)


# 3. Recorder: an object that sees every op on Tensors. The record of a tape is a dict. Its keys are
# the uids that the tape knows: watched tensors (with the value None) and results computed from them
# (with an entry). Storing an entry records the op and makes its result known, in one step.
# Full version: core/dispatch.py, core/context.py; generated fast copies: core/fastpath/

Entry = namedtuple("Entry", "op watched residuals specs")
Spec = namedtuple("Spec", "shape dtype")
recorders = []  # innermost last; the full version has one stack for each thread


class TapeRecord(dict):
    is_trace = False  # a Trace (section 7) also executes the ops


def bind(op, args, static):
    """Apply a primitive to Tensors."""
    if recorders and recorders[0].is_trace:
        return recorders[0].bind(op, args, static)
    out = Tensor(run_kernel(op, args, static))
    for record in recorders:
        record_op(record, op, args, static, out)
    return out


def run_kernel(op, args, static):
    return op.kernel(*map(unwrap, args), **static)


def record_op(record, op, args, static, out):
    """Store an entry if the record knows one of the inputs."""
    values = dict(zip(op.inputs, args, strict=True))
    watched = {n: a.uid for n, a in values.items() if isinstance(a, Tensor) and a.uid in record}
    if watched:
        values["out"] = out
        specs = {f"{name}_spec": spec_of(value) for name, value in values.items()}
        values |= static | specs
        residuals = {r: values[r] for name in watched for r in op.residuals[name]}
        record[out.uid] = Entry(op, watched, residuals, specs)


def spec_of(x):
    return Spec(np.shape(unwrap(x)), np.asarray(unwrap(x)).dtype)


# 4. Ops. Rules consist of primitives and operators. The same rule therefore runs on raw arrays at
# NumPy speed, and on Tensors when an outer tape or a trace must see its ops.
# Full version: ops/


@primitive(elementwise=True, a=lambda g: g, b=lambda g: g)
def add(a, b):
    return a + b


@primitive(elementwise=True, a=lambda g, b: g * b, b=lambda g, a: g * a)
def multiply(a, b):
    return a * b


@primitive(elementwise=True, x=lambda g, out: g * (1 - out * out))
def tanh(x):
    return np.tanh(x)


@primitive(a=lambda g, b: matmul(g, transpose(b)), b=lambda g, a: matmul(transpose(a), g))
def matmul(a, b):
    return np.matmul(a, b)


@primitive(x=lambda g: transpose(g))
def transpose(x):
    return np.swapaxes(x, -1, -2)


# The next two primitives are adjoint to each other. They change the last `rank` axes. Axes in front
# of those are lead axes, which pass through; section 6 uses them.


@primitive(x=lambda g, x_spec, shape: broadcast_to(g, shape=x_spec.shape, rank=len(shape)))
def sum_to(x, *, shape, rank):
    """Sum the last `rank` axes down to `shape`: the adjoint of broadcasting."""
    lead, aligned = x.ndim - rank, (1,) * (rank - len(shape)) + shape
    axes = tuple(lead + i for i, n in enumerate(aligned) if n == 1)
    return np.sum(x, axis=axes, keepdims=True).reshape(x.shape[:lead] + shape)


@primitive(x=lambda g, x_spec, shape: sum_to(g, shape=x_spec.shape, rank=len(shape)))
def broadcast_to(x, *, shape, rank):
    """Broadcast the last `rank` axes to `shape`."""
    lead, own = x.shape[: x.ndim - rank], x.shape[x.ndim - rank :]
    return np.broadcast_to(x.reshape(*lead, *[1] * (len(shape) - rank), *own), lead + shape)


Tensor.__add__ = Tensor.__radd__ = lambda a, b: add(a, b)
Tensor.__mul__ = Tensor.__rmul__ = lambda a, b: multiply(a, b)
Tensor.__rsub__ = lambda a, b: b + -1 * a
assert multiply(2.0, 3.0) == (Tensor(2.0) * 3.0)._array == 6.0

# 5. Backward pass: visits the entries newest first, so the cotangent of an entry is complete when
# its turn comes. There is no recursion. If `g` is a raw array, rules run on raw arrays and nothing
# is recorded. Rules do not handle broadcasting: the pass sums their results to the input's shape.
# Full version: tape/backward.py, tape/gradient_tape.py


def backward_pass(record, cotangents):
    """Turn the cotangents of targets into the cotangents of watched tensors, by uid."""
    for uid, entry in reversed(list(record.items())):
        if entry is None or uid not in cotangents:
            continue
        op, watched, residuals, specs = entry
        g = cotangents.pop(uid)
        if not isinstance(g, Tensor):
            residuals = {name: unwrap(value) for name, value in residuals.items()}
        for name, source in watched.items():
            t = op.rules[name](g, *[residuals[r] for r in op.residuals[name]])
            if op.elementwise:
                t = unbroadcast(t, specs[f"{name}_spec"].shape, specs["out_spec"].shape)
            accumulate(cotangents, source, t)
    return cotangents


def unbroadcast(t, shape, out_shape):
    """Sum `t` along the axes along which an operand of `shape` was repeated."""
    return t if shape == out_shape else sum_to(t, shape=shape, rank=len(out_shape))


def accumulate(cotangents, uid, t):
    cotangents[uid] = add(cotangents[uid], t) if uid in cotangents else t


class GradientTape:
    def __enter__(self):
        self.record = TapeRecord()
        recorders.append(self.record)
        return self

    def __exit__(self, *_):
        recorders.pop()

    def watch(self, tensor):
        self.record[tensor.uid] = None

    def gradient(self, target, source):
        """Derivative of the sum of `target`; None if it does not depend on `source`."""
        ones = np.ones_like(target._array)
        g = Tensor(ones) if recorders else ones  # a Tensor if some recorder must see this pass
        result = backward_pass(self.record, {target.uid: g}).get(source.uid)
        return result if result is None or isinstance(result, Tensor) else Tensor(result)

    def jacobian(self, target, source):
        """Derivative of each element of `target`: see section 6."""
        shape, size = target._array.shape, target._array.size
        identity = np.eye(size).reshape(size, *shape)
        result = backward_pass(self.record, {target.uid: identity})[source.uid]
        return Tensor(result.reshape(shape + source._array.shape))


def slope(x):
    """The derivative of x · tanh(x), by a tape."""
    with GradientTape() as tape:
        tape.watch(x)
        y = x * tanh(x)
    return tape.gradient(y, x)


def slope_by_hand(x):
    return np.tanh(x) + x * (1 - np.tanh(x) ** 2)


x = Tensor(np.array(0.5))
assert np.isclose(slope(x)._array, slope_by_hand(0.5))
print(f"slope at 0.5: {slope(x)._array:.6f}")
# prints: slope at 0.5: 0.855341

# 6. Nested tapes and jacobians work already. While an outer tape is active, the inner backward pass
# runs on Tensors, through `bind`, and the outer tape records it. A jacobian is one backward pass
# with an identity matrix for its cotangent. The rows of the identity are a lead axis: rules count
# axes from the right, so they pass it through.
# Full version: tape/jacobian.py

with GradientTape() as outer:
    outer.watch(x)
    first = slope(x)
second = outer.gradient(first, x)._array
assert np.isclose(second, (slope_by_hand(0.5 + 1e-6) - slope_by_hand(0.5 - 1e-6)) / 2e-6)
print(f"second derivative: {second:.6f}")
# prints: second derivative: 1.209464

rows, w, b = (Tensor(np.arange(1.0, n + 1).reshape(-1, 2) / 10) for n in (6, 4, 2))
with GradientTape() as tape:
    tape.watch(w)
    tape.watch(b)
    y = tanh(matmul(rows, w) + b)  # (3, 2) @ (2, 2) + (1, 2): `b` is repeated for three rows
slopes = 1 - y._array**2
assert np.allclose(tape.gradient(y, b)._array, slopes.sum(0, keepdims=True))
assert np.allclose(tape.jacobian(y, w)._array[2, 1, :, 1], rows._array[2] * slopes[2, 1])
print("jacobian of 3×2 outputs by 2×2 weights:", tape.jacobian(y, w)._array.shape)
# prints: jacobian of 3×2 outputs by 2×2 weights: (3, 2, 2, 2)

# 7. Trace: a recorder that keeps every op as a node of a graph, those of backward passes included.
# `function` (section 8) runs its Python once under a trace. The run computes real values, and the
# first call returns them.
# Full version: graph/trace.py, graph/graph.py

Node = namedtuple("Node", "op inputs static out")
Graph = namedtuple("Graph", "inputs constants nodes output")


class Trace:
    is_trace = True  # always the outermost recorder

    def __init__(self):
        self.nodes, self.constants = [], {}

    def bind(self, op, args, static):
        args = [a if isinstance(a, Tensor) else Tensor(a) for a in args]
        out = Tensor(run_kernel(op, args, static))
        self.nodes.append(Node(op, [a.uid for a in args], static, out.uid))
        self.constants |= {a.uid: a._array for a in args}  # read where no node computes the value
        for record in recorders[1:]:
            record_op(record, op, args, static, out)
        return out


# 8. Plan: the graph as one flat Python function. Compiler passes, functions from graph to graph,
# improve it first. `function` keeps one plan for each signature: the specs of the arguments.
# Full version: compile/numpy/passes/, compile/numpy/codegen.py, jit/function.py


def remove_dead_code(graph):
    live, nodes = {graph.output}, []
    for node in reversed(graph.nodes):
        if node.out in live:
            live.update(node.inputs)
            nodes.insert(0, node)
    return graph._replace(nodes=nodes)


def compile_graph(graph):
    """Write the nodes as Python source and compile it."""
    names = {uid: f"x{i}" for i, uid in enumerate(graph.inputs)}
    names |= {node.out: f"v{i}" for i, node in enumerate(graph.nodes)}
    read = dict.fromkeys(itertools.chain(*[node.inputs for node in graph.nodes]))
    names |= {uid: f"c{i}" for i, uid in enumerate(uid for uid in read if uid not in names)}
    space = {name: graph.constants[uid] for uid, name in names.items() if name[0] == "c"}
    lines = [f"def plan({', '.join(names[uid] for uid in graph.inputs)}):"]
    for node in graph.nodes:
        args = [names[uid] for uid in node.inputs] + [f"{k}={v!r}" for k, v in node.static.items()]
        lines.append(f"    {names[node.out]} = {node.op.name}({', '.join(args)})")
        space[node.op.name] = node.op.kernel
    source = "\n".join([*lines, f"    return {names[graph.output]}"])
    exec(source, space)
    return space["plan"], source


def function(python):
    plans = {}

    def call(*tensors):
        signature = tuple(map(spec_of, tensors))
        if signature in plans:
            plan, _ = plans[signature]
            return Tensor(plan(*map(unwrap, tensors)))
        recorders.insert(0, trace := Trace())
        out = python(*tensors)
        del recorders[0]
        graph = Graph([t.uid for t in tensors], trace.constants, trace.nodes, out.uid)
        plans[signature] = compile_graph(remove_dead_code(graph))
        return out

    call.plans = plans
    return call


@function
def gradient_of_square(x):
    print("the Python runs")
    with GradientTape() as tape:
        tape.watch(x)
        y = x * x  # dead code: the gradient does not read it
    return tape.gradient(y, x)


compiled_slope = function(slope)
for value in (0.5, 0.7, 0.9):
    x = Tensor(np.array(value))
    assert np.isclose(gradient_of_square(x)._array, 2 * value)
    assert np.isclose(compiled_slope(x)._array, slope_by_hand(value))
# prints: the Python runs
print(*(source for _, source in gradient_of_square.plans.values()))
# prints: def plan(x0):
# prints:     v0 = multiply(c0, x0)
# prints:     v1 = multiply(c0, x0)
# prints:     v2 = add(v0, v1)
# prints:     return v2

# 9. Another `np`. A kernel reaches NumPy only through the global name `np`, so a copy of it with
# other globals runs on another array library. With `jax.numpy`, XLA can compile it. With an object
# that writes calls down, the NumPy engine sees inside it. One kernel serves every engine.
# Full version: compile/numpy/kernel_namespace.py, compile/xla/kernel_namespace.py

writer = SimpleNamespace(tanh=lambda x: f"np.tanh({x})")
lowered = FunctionType(tanh.kernel.__code__, {"np": writer})
print(lowered("x"))
# prints: np.tanh(x)

# Where to go next: docs/layers.md has the folders, docs/map.md says where each idea lives, and
# CONTRIBUTING.md shows how to add an op, a compiler pass and a dataset method.
