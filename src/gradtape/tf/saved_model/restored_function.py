"""Functions of a loaded model, which take the arguments that they were saved for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradtape.core import nest
from gradtape.core.context import local
from gradtape.core.errors import public
from gradtape.core.spec import TensorSpec
from gradtape.jit.cache_key import cache_key
from gradtape.jit.function import MOST_SIGNATURES
from gradtape.jit.signature import bind_arguments
from gradtape.jit.signature_repr import ConcreteFunctionBase, make_function_type
from gradtape.tf.saved_model.graph_function import Variant, convert_to_spec
from gradtape.tf.saved_model.result_structure import build_structure, describe_call, leaves_of


class KnownCalls:
    """The variants of earlier calls, by the keys of their arguments.

    Only calls are known whose tensors reach the variant as they were passed and in that order.
    """

    def __init__(self) -> None:
        """Know no call."""
        self.variants: dict[Any, Variant] = {}

    def run(
        self,
        find: Callable[[Any, Any], tuple[Variant, list[Any]]],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Call the variant for these arguments; `find` returns it and its tensors."""
        recorders = local.recorders
        if local.scratch or (recorders and recorders[0].is_trace):
            variant, tensors = find(args, kwargs)
            return variant(tensors)
        passed: list[Any] = []
        variables: list[Any] = []
        try:
            key = cache_key(args, kwargs, passed, variables)
            known = self.variants.get(key)
        except (TypeError, ValueError):  # arguments that are no key; `find` explains them
            key, known = None, None
        if known is not None:
            return known(passed)
        variant, tensors = find(args, kwargs)
        if key is not None and not variables and list(map(id, tensors)) == list(map(id, passed)):
            if len(self.variants) >= MOST_SIGNATURES:
                self.variants.clear()
            self.variants[key] = variant
        return variant(tensors)


class RestoredFunction:
    """A function of a loaded model; it takes the arguments that it was saved for.

    Attributes:
        variants: the function for each signature.
        parameters: the parameters of the original Python function.
        input_signature: the specs that `tf.function` was given, or None.
    """

    _saves_as_function = True

    def __init__(
        self,
        variants: list[Variant],
        parameters: inspect.Signature,
        input_signature: Any,
        name: str,
    ) -> None:
        """A function of these variants."""
        self.variants = variants
        self.parameters = parameters
        self.input_signature = input_signature
        self._name = name
        self.__name__ = name
        self._known = KnownCalls()

    @property
    def name(self) -> str:
        """The name of the original Python function."""
        return self._name

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """(args, kwargs) with defaults filled in."""
        bound = bind_arguments(self.parameters, args, kwargs)
        return bound.args, bound.kwargs

    def find_variant(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant, list[Any]]:
        """The variant for a call, and the tensors among the arguments."""
        if not self.variants:
            raise ValueError("Found zero restored functions for caller function.")
        arguments = self.bind(args, kwargs)
        for variant in self.variants:
            tensors = variant.match(arguments)
            if tensors is not None:
                return variant, tensors
        if self.input_signature is not None:
            raise TypeError(
                f"Binding inputs to tf.function failed: {self.name} takes {self.input_signature}. "
                f"Received args: {args} and kwargs: {kwargs}."
            )
        options = "\n\n".join(f"Option {i}:\n{v!r}" for i, v in enumerate(self.variants, 1))
        raise ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"{describe_call(arguments)}\n\n Expected these arguments to match one of the "
            f"following {len(self.variants)} option(s):\n\n{options}"
        )

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the variant for these arguments.

        Raises:
            ValueError: if there is none.
            TypeError: if they do not match `input_signature`.
        """
        return self._known.run(self.find_variant, args, kwargs)

    @property
    def concrete_functions(self) -> list[RestoredConcrete]:
        """The function for each signature."""
        return [RestoredConcrete(variant, self.parameters) for variant in self.variants]

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
        arguments = self.bind(args, kwargs)
        for variant in self.variants:
            if variant.is_for(arguments):
                return RestoredConcrete(variant, self.parameters)
        return RestoredConcrete(self.find_variant(args, kwargs)[0], self.parameters)


class RestoredConcrete(ConcreteFunctionBase):
    """A loaded function for one signature."""

    _saves_as_function = True

    def __init__(self, variant: Variant, parameters: inspect.Signature) -> None:
        """Wrap `variant`, whose arguments have these `parameters`."""
        self.variant = variant
        self._parameters = parameters
        self._known = KnownCalls()

    @property
    def name(self) -> str:
        """The name of the original Python function."""
        return self.variant.function.name

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
        args, kwargs = self.variant.arguments
        return make_function_type(self._parameters, args, kwargs, self.structured_outputs)

    @property
    def graph(self) -> Any:
        """The graph; unknown sizes are replaced by examples."""
        concrete = self.variant.function.get_concrete_function(*self.variant.specs)
        return concrete.graph

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; Python values may be omitted.

        Raises:
            TypeError: if a tensor is missing, too many are given, or one does not fit.
        """
        return self._known.run(self._find_variant, args, kwargs)

    def _find_variant(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Variant, list[Any]]:
        """The variant, and the tensors among the arguments of a call."""
        return self.variant, self._find_tensors(args, kwargs)

    def _find_tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The tensors among the arguments of a call."""
        names = list(self._parameters.parameters)
        positional, named = self.variant.arguments
        wanted = dict(zip(names, positional, strict=False)) | named
        given = dict(zip(wanted, args, strict=False)) | kwargs
        tensors: list[Any] = []
        for name, expected in wanted.items():
            specs = [leaf for leaf in leaves_of(expected) if isinstance(leaf, TensorSpec)]
            if specs and name not in given:
                raise self._binding_error(f"missing a required argument: {name!r}", args, kwargs)
            parts = nest.flatten_up_to(expected, given.pop(name)) if specs else []
            given.pop(name, None)
            for spec, part in zip(specs, parts, strict=True):
                tensor = convert_to_spec(spec, part)
                if tensor is None:
                    raise self._binding_error(f"Can not cast {part!r} to {spec!r}", args, kwargs)
                tensors.append(tensor)
        if given or len(args) > len(wanted):
            raise self._binding_error("too many arguments", args, kwargs)
        return tensors

    def _binding_error(self, why: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
        """The error for arguments that the function does not take."""
        return TypeError(
            f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and "
            f"kwargs: {kwargs} for signature: {self.function_type}."
        )


class Signature(RestoredConcrete):
    """A signature: a function from named tensors to a dict of named tensors."""

    def __init__(self, variant: Variant, names: list[str]) -> None:
        """Call the tensors among the arguments of `variant` by these `names`, in order."""
        kinds = inspect.Parameter
        parameters = [kinds(name, kinds.KEYWORD_ONLY) for name in names]
        super().__init__(variant, inspect.Signature(parameters))
        self._names = names

    @property
    def name(self) -> str:
        """The name that TensorFlow gives it."""
        return f"signature_wrapper_{self.variant.function.name}"

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

    @property
    def function_type(self) -> inspect.Signature:
        """Specs of arguments and result, as the annotations of a signature."""
        args, kwargs = self.structured_input_signature
        return make_function_type(self._parameters, args, kwargs, self.structured_outputs)

    def _find_tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if len(args) == 1 and not kwargs and len(self._names) == 1:
            return self._find_tensors((), {self._names[0]: args[0]})
        if args:
            raise self._binding_error("too many positional arguments", args, kwargs)
        missing = [name for name in self._names if name not in kwargs]
        if missing:
            raise self._binding_error(f"missing a required argument: {missing[0]!r}", args, kwargs)
        unknown = [name for name in kwargs if name not in self._names]
        if unknown:
            why = f"got an unexpected keyword argument {unknown[0]!r}"
            raise self._binding_error(why, args, kwargs)
        tensors = []
        for name, spec in zip(self._names, self.variant.specs, strict=True):
            tensor = convert_to_spec(spec, kwargs[name])
            if tensor is None:
                raise self._binding_error(
                    f"Can not cast {kwargs[name]!r} to {spec!r}", args, kwargs
                )
            tensors.append(tensor)
        return tensors


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
