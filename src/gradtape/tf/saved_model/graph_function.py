"""A function for one signature, as a graph without Python: what is saved, and runs again."""

from __future__ import annotations

from typing import Any

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.tensor import Tensor, make_tensor
from gradtape.graph.replay import refuse_effect, replay
from gradtape.graph.side_effect import TensorSlot
from gradtape.jit.function import Function
from gradtape.tf.saved_model.node_decoder import Decoder
from gradtape.tf.saved_model.node_encoder import function_named


class Program:
    """A graph with what it reads from outside, for arguments of certain ranks.

    Attributes:
        tree: `inputs`, `captures`, `states`: numbers of the values that are given; `nodes`;
            `outputs`: operands; `specs`: shapes and dtypes of the outputs.
        captures: tensors.
        states: variables.
        tables: what the tables hold that are looked up.
    """

    def __init__(
        self, tree: dict[str, Any], captures: list[Any], states: list[Any], tables: list[Any]
    ) -> None:
        """A graph of these parts."""
        self.tree = tree
        self.captures = captures
        self.states = states
        self.tables = tables

    def run(self, tensors: tuple[Tensor, ...]) -> list[Tensor]:
        """The flat results for flat arguments."""
        tree = self.tree
        env: dict[int, Any] = dict(zip(tree["inputs"], tensors, strict=True))
        env.update(zip(tree["captures"], self.captures, strict=True))
        env.update(zip(tree["states"], [v._read() for v in self.states], strict=True))
        decoder = Decoder(env, self.tables)
        for node in tree["nodes"]:
            if "call" in node and "flags" not in node:
                self.happen(node, decoder)
            else:
                replay([decoder.node(node)], env, refuse_effect, self.installed)
        return [convert(self.looked_up(decoder, output)) for output in tree["outputs"]]

    def happen(self, node: dict[str, Any], decoder: Decoder) -> None:
        """Let something happen: a function of gradtape is called."""
        given = [self.looked_up(decoder, operand) for operand in node["in"]]
        args, kwargs = nest.map_structure(
            lambda leaf: given[leaf.position] if isinstance(leaf, TensorSlot) else leaf,
            decoder.value(node["args"]),
        )
        result = function_named(node["call"])(*args, **kwargs)
        flat = nest.flatten(result, expand_composites=True) if node["out"] else []
        decoder.env.update(zip(node["out"], flat, strict=True))

    def installed(self, key: int, value: Any) -> Tensor:
        """Give a variable its new value."""
        variable = self.states[key]
        variable.assign(value, read_value=False)
        tensor: Tensor = variable._read()
        return tensor

    def looked_up(self, decoder: Decoder, operand: Any) -> Any:
        """The tensor of an operand."""
        found = decoder.operand(operand)
        value = decoder.env[found] if type(found) is int else found.raw
        return value if isinstance(value, Tensor) else make_tensor(value)


class Variant:
    """A function for one signature.

    Attributes:
        arguments: (args, kwargs) of a call; specs in place of tensors.
        programs: what runs, by the ranks of the tensors among the arguments.
        returned: the structure of the result.
        specs: of the tensors among the arguments.
    """

    def __init__(
        self, arguments: Any, programs: dict[tuple[int, ...], Program], returned: Any, name: str
    ) -> None:
        """A function of these parts."""
        self.arguments = arguments
        self.programs = programs
        self.returned = returned
        self.specs = [leaf for leaf in leaves_of(arguments) if isinstance(leaf, TensorSpec)]
        self.function = Function(self.run, name)
        self.function.warns_of_retracing = False

    def run(self, *tensors: Tensor) -> list[Tensor]:
        """The flat results for flat arguments."""
        ranks = tuple([len(t.shape) for t in tensors])
        program = self.programs.get(ranks)
        if program is None:
            known = ", ".join(map(str, self.programs))
            raise InvalidArgumentError(
                f"{self.function.name}: this SavedModel was saved for arguments of the ranks "
                f"{known}. Received {ranks}. Save it with a shape of known rank."
            )
        return program.run(tensors)

    def __call__(self, tensors: list[Any]) -> Any:
        """What the function returns for these tensors."""
        results = self.function(*tensors)
        return rebuilt(self.returned, results)

    def matches(self, arguments: Any) -> list[Any] | None:
        """The tensors among the arguments of a call, if they are what this variant is for."""
        try:
            given = nest.flatten_up_to(self.arguments, arguments)
        except (TypeError, ValueError):
            return None
        tensors: list[Any] = []
        for expected, value in zip(nest.flatten(self.arguments), given, strict=True):
            if isinstance(expected, TensorSpec):
                parts: list[Any] = [fitting(expected, value)]
            elif isinstance(expected, TypeSpec):
                if not expected.is_compatible_with(value):
                    return None
                parts = nest.flatten(expected._to_components(value), expand_composites=True)
            else:
                if type(expected) is not type(value) or expected != value:
                    return None
                parts = []
            if any(part is None for part in parts):
                return None
            tensors += parts
        return tensors

    def is_for(self, arguments: Any) -> bool:
        """Whether these arguments, with specs in place of tensors, are what this variant is for."""
        try:
            given = nest.flatten_up_to(self.arguments, arguments)
        except (TypeError, ValueError):
            return False
        pairs = zip(nest.flatten(self.arguments), given, strict=True)
        return all(a.is_compatible_with(b) if isinstance(a, TypeSpec) else a == b for a, b in pairs)

    @property
    def variables(self) -> tuple[Any, ...]:
        """Variables that it uses, but for the hidden ones of random ops."""
        states = {v._key: v for program in self.programs.values() for v in program.states}
        return tuple(v for v in states.values() if not is_stream(v))

    @property
    def outputs(self) -> list[TensorSpec]:
        """Specs of the flat results."""
        found = zip(*[program.tree["specs"] for program in self.programs.values()], strict=True)
        return [common(list(specs)) for specs in found]

    def __repr__(self) -> str:
        """The arguments."""
        return described(self.arguments)


def is_stream(variable: Any) -> bool:
    """Whether a variable is the hidden one of a random op."""
    return hasattr(variable, "pair")


def common(specs: list[Any]) -> TensorSpec:
    """What describes all of these shapes and dtypes."""
    shapes, dtype = [shape for shape, _ in specs], specs[0][1]
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        return TensorSpec(None, dtype)
    sizes = [column[0] if len(set(column)) == 1 else None for column in zip(*shapes, strict=True)]
    return TensorSpec(sizes, dtype)


def fitting(spec: TensorSpec, given: Any) -> Tensor | None:
    """`given` as a tensor that `spec` describes, or None."""
    if given is None or (isinstance(given, (str, bytes)) and spec.dtype.name != "string"):
        return None
    try:
        tensor = convert(given, None if isinstance(given, Tensor) else spec.dtype)
    except (TypeError, ValueError):
        return None
    fits = tensor.dtype is spec.dtype and spec.shape.is_compatible_with(tensor.shape)
    return tensor if fits else None


def leaves_of(structure: Any) -> list[Any]:
    """Tensors, specs and Python values of a structure."""
    flat = []
    for leaf in nest.flatten(structure, expand_composites=True):
        if isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec):
            flat += leaf._component_specs
        else:
            flat.append(leaf)
    return flat


def rebuilt(tree: Any, results: list[Any]) -> Any:
    """A result of this structure."""
    if not isinstance(tree, dict):
        return tree
    ((kind, inside),) = tree.items()
    if kind == "$result":
        return results[inside]
    if kind == "$dict":
        return {key: rebuilt(value, results) for key, value in inside}
    parts = [rebuilt(value, results) for value in inside]
    if kind == "$ragged":
        return RaggedTensor.from_nested_row_splits(parts[0], parts[1:], validate=False)
    if kind == "$sparse":
        return SparseTensor(*parts)
    return tuple(parts) if kind == "$tuple" else parts


def structure_of(value: Any, position: Any) -> Any:
    """The structure of a result as a tree; `position` counts its tensors."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        return {"$result": next(position)}
    if isinstance(value, RaggedTensor):
        return {
            "$ragged": [structure_of(p, position) for p in value._type_spec._to_components(value)]
        }
    if isinstance(value, SparseTensor):
        parts = (value.indices, value.values, value.dense_shape)
        return {"$sparse": [structure_of(p, position) for p in parts]}
    if isinstance(value, dict):
        numbered = {key: structure_of(value[key], position) for key in sorted(value)}
        return {"$dict": [[key, numbered[key]] for key in value]}
    if isinstance(value, (list, tuple)):
        kind = "$list" if isinstance(value, list) else "$tuple"
        return {kind: [structure_of(item, position) for item in value]}
    raise TypeError(
        f"saved_model.save: a function returns a {type(value).__name__}, which cannot be saved. "
        "Return tensors, and lists, tuples and dicts of them."
    )


def described(arguments: Any) -> str:
    """The arguments of a call in lines, as TensorFlow says them."""
    args, kwargs = arguments
    lines = [f"  Positional arguments ({len(args)} total):"]
    lines += [f"    * {value!r}" for value in args]
    return "\n".join([*lines, f"  Keyword arguments: {kwargs!r}"])
