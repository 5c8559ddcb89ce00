"""Functions of a loaded model, which take the arguments that they were saved for.

A loaded function is a `jit.function.Function` whose Python function replays graphs of the model. So
it has the same cache of executables, the same gradients and the same traces of unknown sizes as
other functions.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from gradtape.core import nest
from gradtape.core.errors import public
from gradtape.core.spec import TensorSpec
from gradtape.jit.argument_match import leaves_of
from gradtape.jit.function import Function
from gradtape.jit.open_signature import OpenSignature, OpenTraces, fit_call
from gradtape.jit.signature import Call, bind_arguments
from gradtape.jit.signature_repr import ConcreteFunctionBase, make_function_type
from gradtape.tf.saved_model.result_structure import build_structure, describe_call
from gradtape.tf.saved_model.variant import (
    DISPATCH_ERRORS,
    RAW_ERRORS,
    Variant,
    as_graph_error,
    convert_to_spec,
    select_tensors,
)


class ArgumentTypeError(TypeError):
    """A caller gives arguments that a loaded function does not take."""


class ArgumentValueError(ValueError):
    """A caller gives arguments for which a loaded function was not saved."""


for _error in (ArgumentTypeError, ArgumentValueError):  # users see the class of Python
    _error.__name__ = _error.__qualname__ = _error.__bases__[0].__name__
    _error.__module__ = "builtins"


class GraphCaller:
    """The Python function of a loaded function: replays the graph for its arguments."""

    def __init__(self, variants: list[Variant], parameters: inspect.Signature, name: str) -> None:
        """Choose among `variants`, which have these `parameters`."""
        self.variants = variants
        self.__signature__ = parameters
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the variant for these arguments, which have tensors for its specs."""
        bound = self.__signature__.bind(*args, **kwargs)
        arguments = bound.args, bound.kwargs
        variant = next(one for one in self.variants if one.match(arguments) is not None)
        return variant.run(select_tensors(arguments))


class SignatureCaller(GraphCaller):
    """The Python function of a signature: its arguments are the tensors, by name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for these tensors."""
        return self.variants[0].run([kwargs[name] for name in self.__signature__.parameters])


class LoadedSizes(OpenSignature):
    """The open sizes of a loaded function: those of its variants."""

    def __init__(self, variants: list[Variant]) -> None:
        """Leave open what the variants leave open."""
        super().__init__(None, reduces_retracing=False)
        self.requested = [
            shapes
            for variant in variants
            for shapes in variant.open_shapes()
            if not all(shape.is_fully_defined() for shape in shapes)
        ]

    def find(self, call: Call) -> OpenTraces | None:
        """The traces for calls like this one; None if all sizes are known."""
        for shapes in self.requested:
            if fit_call(shapes, call):
                return self.traces_for(call, shapes, hides_dense_shapes=True)
        return None


class LoadedFunction(Function):
    """Base class of the functions of a loaded model."""

    def __init__(self, caller: GraphCaller, input_signature: Any = None) -> None:
        """Call `caller`."""
        super().__init__(caller, caller.__name__, input_signature)
        self.has_rewritten_loops = True  # there is no Python to rewrite
        self.warns_of_retracing = False
        self.open_signature = LoadedSizes(caller.variants)

    @property
    def variants(self) -> list[Variant]:
        """The function for each signature."""
        variants: list[Variant] = self.python_function.variants
        return variants

    def match_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """(args, kwargs) with tensors for the specs of a variant.

        Raises:
            ArgumentTypeError, ArgumentValueError: if no variant takes them.
        """
        raise NotImplementedError

    def _bind_and_call(self, passed: Any, args: Any, kwargs: Any) -> Any:
        given, named = self.match_arguments(args, kwargs)
        return super()._bind_and_call(passed, given, named)

    def replace_error(self, error: Exception, args: Any, kwargs: Any) -> None:
        """Raise TensorFlow's error for one of Python's that the graph of a file causes."""
        if isinstance(error, (ArgumentTypeError, ArgumentValueError, *DISPATCH_ERRORS)):
            return
        if isinstance(error, RAW_ERRORS):
            self.match_arguments(args, kwargs)  # raises for arguments that are no cache key
            raise as_graph_error(self.name, error) from error

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """No children: a saved model has the variants of the function."""
        return {}

    def __reduce__(self) -> Any:
        """Refuse to be pickled."""
        raise TypeError(f"{self.name}: a function of a loaded model cannot be pickled.")


class RestoredFunction(LoadedFunction):
    """A function of a loaded model; it takes the arguments that it was saved for.

    Attributes:
        parameters_signature: the parameters of the original Python function.
    """

    def __init__(
        self,
        variants: list[Variant],
        parameters: inspect.Signature,
        input_signature: Any,
        name: str,
    ) -> None:
        """A function of these variants."""
        super().__init__(GraphCaller(variants, parameters, name))
        self._input_signature = input_signature
        self._concrete_functions: list[RestoredConcrete] = []

    def match_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """(args, kwargs) with tensors for the specs of a variant."""
        if not self.variants:
            raise ArgumentValueError("Found zero restored functions for caller function.")
        try:
            bound = bind_arguments(self.function_spec.parameters, args, kwargs)
        except TypeError as error:
            raise ArgumentTypeError(str(error)) from None
        arguments = bound.args, bound.kwargs
        for variant in self.variants:
            matched: tuple[Any, Any] | None = variant.match(arguments)
            if matched is not None:
                return matched
        raise self.explain_mismatch(arguments, args, kwargs)

    def explain_mismatch(self, arguments: Any, args: Any, kwargs: Any) -> Exception:
        """The error for arguments that no variant takes."""
        if self.input_signature is not None:
            return ArgumentTypeError(
                f"Binding inputs to tf.function failed: {self.name} takes {self.input_signature}. "
                f"Received args: {args} and kwargs: {kwargs}."
            )
        options = "\n\n".join(f"Option {i}:\n{v!r}" for i, v in enumerate(self.variants, 1))
        return ArgumentValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"{describe_call(arguments)}\n\n Expected these arguments to match one of the "
            f"following {len(self.variants)} option(s):\n\n{options}"
        )

    @property
    def concrete_functions(self) -> list[RestoredConcrete]:
        """The function for each signature."""
        if not self._concrete_functions:
            parameters = self.function_spec.parameters
            self._concrete_functions = [RestoredConcrete(v, parameters) for v in self.variants]
        return self._concrete_functions

    def _list_all_concrete_functions(self) -> list[RestoredConcrete]:
        return self.concrete_functions

    @public
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> RestoredConcrete:
        """The function for one signature.

        Args:
            *args: arguments; specs stand for tensors. Without any, there must be one variant.
            **kwargs: the same by name.
        """
        if not args and not kwargs and len(self.variants) == 1:
            return self.concrete_functions[0]
        bound = bind_arguments(self.function_spec.parameters, args, kwargs)
        arguments = bound.args, bound.kwargs
        for variant, concrete in zip(self.variants, self.concrete_functions, strict=True):
            if variant.is_for(arguments) or variant.match(arguments) is not None:
                return concrete
        raise self.explain_mismatch(arguments, args, kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> RestoredFunction:
        """A function of copies of the variables."""
        variants = copy.deepcopy(self.variants, memo)
        parameters = self.function_spec.parameters
        return RestoredFunction(variants, parameters, self.input_signature, self.name)


class RestoredConcrete(ConcreteFunctionBase, LoadedFunction):
    """A loaded function for one signature."""

    _saves_as_function = True

    def __init__(
        self, variant: Variant, parameters: inspect.Signature, caller: type = GraphCaller
    ) -> None:
        """Wrap `variant`, whose arguments have these `parameters`."""
        LoadedFunction.__init__(self, caller([variant], parameters, variant.name))
        self.variant = variant
        self._parameters = parameters

    @property
    def name(self) -> str:
        """The name of the original Python function."""
        return self.variant.name

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """Specs and Python values of the arguments, as (args, kwargs)."""
        args, kwargs = self.variant.arguments
        return args, kwargs

    @property
    def structured_outputs(self) -> Any:
        """Specs of the result."""
        return build_structure(self.variant.returned, self.variant.outputs)

    @property
    def inputs(self) -> list[TensorSpec]:
        """Specs of the tensors among the arguments."""
        return list(self.variant.specs)

    @property
    def outputs(self) -> list[TensorSpec]:
        """Specs of the tensors in the result."""
        return self.variant.outputs

    @property
    def captured_inputs(self) -> list[Any]:
        """The variables that the function uses."""
        return list(self.variables)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function uses."""
        return self.variant.variables

    @property
    def function_type(self) -> inspect.Signature:
        """Specs of arguments and result, as the annotations of a signature."""
        args, kwargs = self.structured_input_signature
        return make_function_type(self._parameters, args, kwargs, self.structured_outputs)

    @property
    def graph(self) -> Any:
        """The graph, for inspection."""
        args, kwargs = self.structured_input_signature
        return Function.get_concrete_function(self, *args, **kwargs).graph

    def match_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """(args, kwargs) with tensors for the specs; Python values may be omitted."""
        names = list(self._parameters.parameters)
        positional, named = self.variant.arguments
        wanted = dict(zip(names, positional, strict=False)) | named
        given = dict(zip(wanted, args, strict=False)) | kwargs
        found = {}
        for name, expected in wanted.items():
            specs = [leaf for leaf in leaves_of(expected) if isinstance(leaf, TensorSpec)]
            if specs and name not in given:
                raise self._binding_error(f"missing a required argument: {name!r}", args, kwargs)
            value = given.pop(name, expected)
            found[name] = self._cast(expected, value, args, kwargs) if specs else expected
        if given or len(args) > len(wanted):
            raise self._binding_error("too many arguments", args, kwargs)
        values = list(found.values())[: len(positional)]
        return tuple(values), {name: found[name] for name in named}

    def _cast(self, expected: Any, value: Any, args: Any, kwargs: Any) -> Any:
        """An argument with tensors for its specs."""
        try:
            parts = nest.flatten_up_to(expected, value)
        except (TypeError, ValueError) as error:
            raise self._binding_error(str(error), args, kwargs) from None
        made = []
        for spec, part in zip(nest.flatten(expected), parts, strict=True):
            if isinstance(spec, TensorSpec):
                tensor = convert_to_spec(spec, part)
                if tensor is None:
                    raise self._binding_error(f"Can not cast {part!r} to {spec!r}", args, kwargs)
                part = tensor
            made.append(part)
        return nest.pack_sequence_as(expected, made)

    def _binding_error(self, why: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
        """The error for arguments that the function does not take."""
        return ArgumentTypeError(
            f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and "
            f"kwargs: {kwargs} for signature: {self.function_type}."
        )


class Signature(RestoredConcrete):
    """A signature: a function from named tensors to a dict of named tensors."""

    def __init__(self, variant: Variant, names: list[str]) -> None:
        """Call the tensors among the arguments of `variant` by these `names`, in order."""
        kinds = inspect.Parameter
        parameters = [kinds(name, kinds.KEYWORD_ONLY) for name in names]
        super().__init__(variant, inspect.Signature(parameters), SignatureCaller)
        self._names = names

    @property
    def name(self) -> str:
        """The name that TensorFlow gives it."""
        return f"signature_wrapper_{self.variant.name}"

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """Specs of the arguments, by name."""
        return (), {
            name: TensorSpec(spec.shape, spec.dtype, name)
            for name, spec in zip(self._names, self.variant.specs, strict=True)
        }

    @property
    def inputs(self) -> list[TensorSpec]:
        """Specs of the arguments."""
        return list(self.structured_input_signature[1].values())

    @property
    def structured_outputs(self) -> dict[str, TensorSpec]:
        """Specs of the results, by name."""
        named = build_structure(self.variant.returned, self.variant.outputs)
        return {name: TensorSpec(s.shape, s.dtype, name) for name, s in named.items()}

    def match_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The tensors by name; the only one may be positional."""
        if len(args) == 1 and not kwargs and len(self._names) == 1:
            return self.match_arguments((), {self._names[0]: args[0]})
        if args:
            raise self._binding_error("too many positional arguments", args, kwargs)
        missing = [name for name in self._names if name not in kwargs]
        if missing:
            raise self._binding_error(f"missing a required argument: {missing[0]!r}", args, kwargs)
        unknown = [name for name in kwargs if name not in self._names]
        if unknown:
            why = f"got an unexpected keyword argument {unknown[0]!r}"
            raise self._binding_error(why, args, kwargs)
        pairs = zip(self._names, self.variant.specs, strict=True)
        return (), {name: self._cast(spec, kwargs[name], args, kwargs) for name, spec in pairs}


class _SignatureMap(Mapping[str, Signature]):
    """The signatures of a loaded model, by name."""

    def __init__(self, signatures: dict[str, Any]) -> None:
        """Wrap a dict of signatures."""
        self._signatures = signatures

    def __getitem__(self, key: str) -> Any:
        """The signature of this name."""
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._signatures)

    def __len__(self) -> int:
        """The number of signatures."""
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"
