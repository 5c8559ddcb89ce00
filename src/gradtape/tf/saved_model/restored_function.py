"""What the functions of a loaded model are: callable for what they were traced for."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from gradtape.core import nest
from gradtape.core.errors import public
from gradtape.core.spec import TensorSpec
from gradtape.jit.signature import bind_arguments
from gradtape.jit.signature_repr import ConcreteFunctionBase, make_function_type
from gradtape.tf.saved_model.graph_function import Variant, described, fitting, leaves_of, rebuilt


class RestoredFunction:
    """A function of a loaded model: it takes what it was traced for before it was saved.

    Attributes:
        variants: what it was traced for.
        parameters: the parameters of the Python function that it was.
        input_signature: specs of the arguments, if they were given.
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

    @property
    def name(self) -> str:
        """The name of the Python function that it was."""
        return self._name

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """(args, kwargs) with defaults filled in."""
        bound = bind_arguments(self.parameters, args, kwargs)
        return bound.args, bound.kwargs

    def found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Variant, list[Any]]:
        """The variant for a call, and the tensors in it."""
        if not self.variants:
            raise ValueError("Found zero restored functions for caller function.")
        arguments = self.bound(args, kwargs)
        for variant in self.variants:
            tensors = variant.matches(arguments)
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
            f"{described(arguments)}\n\n Expected these arguments to match one of the following "
            f"{len(self.variants)} option(s):\n\n{options}"
        )

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the variant for these arguments.

        Raises:
            ValueError: if there is none.
            TypeError: if they are not what `input_signature` says.
        """
        variant, tensors = self.found(args, kwargs)
        return variant(tensors)

    @property
    def concrete_functions(self) -> list[RestoredConcrete]:
        """What it was traced for, one by one."""
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
        arguments = self.bound(args, kwargs)
        for variant in self.variants:
            if variant.is_for(arguments):
                return RestoredConcrete(variant, self.parameters)
        return RestoredConcrete(self.found(args, kwargs)[0], self.parameters)


class RestoredConcrete(ConcreteFunctionBase):
    """A loaded function for one signature, with its specs to look at."""

    _saves_as_function = True

    def __init__(self, variant: Variant, parameters: inspect.Signature) -> None:
        """Show `variant`, whose arguments have these `parameters`."""
        self.variant = variant
        self._parameters = parameters

    @property
    def name(self) -> str:
        """The name of the Python function that it was."""
        return self.variant.function.name

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        """Specs and Python values of the arguments, as (args, kwargs)."""
        args, kwargs = self.variant.arguments
        return args, kwargs

    @property
    def structured_outputs(self) -> Any:
        """Specs of what is returned."""
        return rebuilt(self.variant.returned, self.variant.outputs)

    @property
    def inputs(self) -> list[TensorSpec]:
        """Specs of the tensors among the arguments."""
        return list(self.variant.specs)

    @property
    def outputs(self) -> list[TensorSpec]:
        """Specs of the tensors returned."""
        return self.variant.outputs

    @property
    def captured_inputs(self) -> list[Any]:
        """Variables that are used."""
        return list(self.variables)

    @property
    def variables(self) -> tuple[Any, ...]:
        """Variables that are used."""
        return self.variant.variables

    @property
    def function_type(self) -> inspect.Signature:
        """Specs of what is given and returned, as the annotations of a signature."""
        args, kwargs = self.variant.arguments
        return make_function_type(self._parameters, args, kwargs, self.structured_outputs)

    @property
    def graph(self) -> Any:
        """The graph; with unknown sizes, as it is for some."""
        concrete = self.variant.function.get_concrete_function(*self.variant.specs)
        return concrete.graph

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; Python values may be left out.

        Raises:
            TypeError: if a tensor is missing, too many are given, or one does not fit.
        """
        return self.variant(self._given(args, kwargs))

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The tensors of a call."""
        names = list(self._parameters.parameters)
        described, named = self.variant.arguments
        wanted = dict(zip(names, described, strict=False)) | named
        given = dict(zip(wanted, args, strict=False)) | kwargs
        tensors: list[Any] = []
        for name, expected in wanted.items():
            specs = [leaf for leaf in leaves_of(expected) if isinstance(leaf, TensorSpec)]
            if specs and name not in given:
                raise self._unbound(f"missing a required argument: {name!r}", args, kwargs)
            parts = nest.flatten_up_to(expected, given.pop(name)) if specs else []
            given.pop(name, None)
            for spec, part in zip(specs, parts, strict=True):
                tensor = fitting(spec, part)
                if tensor is None:
                    raise self._unbound(f"Can not cast {part!r} to {spec!r}", args, kwargs)
                tensors.append(tensor)
        if given or len(args) > len(wanted):
            raise self._unbound("too many arguments", args, kwargs)
        return tensors

    def _unbound(self, why: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
        """A call does not fit."""
        return TypeError(
            f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and "
            f"kwargs: {kwargs} for signature: {self.function_type}."
        )


class Signature(RestoredConcrete):
    """A function to be served: tensors by name in, a dict of tensors by name out."""

    def __init__(self, variant: Variant, names: list[str]) -> None:
        """The arguments of `variant`, one after the other, are called `names`."""
        kinds = inspect.Parameter
        parameters = [kinds(name, kinds.KEYWORD_ONLY) for name in names]
        super().__init__(variant, inspect.Signature(parameters))
        self._names = names

    @property
    def name(self) -> str:
        """As TensorFlow calls it."""
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
        named = rebuilt(self.variant.returned, self.variant.outputs)
        return {name: TensorSpec(s.shape, s.dtype, name) for name, s in named.items()}

    @property
    def function_type(self) -> inspect.Signature:
        """Specs of what is given and returned, as the annotations of a signature."""
        args, kwargs = self.structured_input_signature
        return make_function_type(self._parameters, args, kwargs, self.structured_outputs)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        if len(args) == 1 and not kwargs and len(self._names) == 1:
            return self._given((), {self._names[0]: args[0]})
        if args:
            raise self._unbound("too many positional arguments", args, kwargs)
        missing = [name for name in self._names if name not in kwargs]
        if missing:
            raise self._unbound(f"missing a required argument: {missing[0]!r}", args, kwargs)
        unknown = [name for name in kwargs if name not in self._names]
        if unknown:
            why = f"got an unexpected keyword argument {unknown[0]!r}"
            raise self._unbound(why, args, kwargs)
        tensors = []
        for name, spec in zip(self._names, self.variant.specs, strict=True):
            tensor = fitting(spec, kwargs[name])
            if tensor is None:
                raise self._unbound(f"Can not cast {kwargs[name]!r} to {spec!r}", args, kwargs)
            tensors.append(tensor)
        return tensors


class _SignatureMap(Mapping[str, Signature]):
    """The functions of a loaded model that are to be served, by name."""

    def __init__(self, signatures: dict[str, Any]) -> None:
        """These functions."""
        self._signatures = signatures

    def __getitem__(self, key: str) -> Any:
        """The function of this name."""
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._signatures)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._signatures)

    def __repr__(self) -> str:
        """All of them."""
        return f"_SignatureMap({self._signatures})"
