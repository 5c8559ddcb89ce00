"""Functions of the user that replace public functions for the user's own types."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from gradtape.core.argument import describe
from gradtape.core.array_conversion import USER_TYPES
from gradtape.core.convert import is_tensor_like
from gradtape.core.errors import public
from gradtape.core.ports import UserTypePort
from gradtape.tf.extension_type.extension_type import ExtensionType
from gradtape.tf.tensor_operator import TENSOR_OPERATORS
from gradtape.tf.types.experimental import TensorLike

UNARY_APIS = {
    "math": """
        abs acos acosh angle asin asinh atan atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e ceil
        conj cos cosh digamma erf erfc erfcinv erfinv exp expm1 floor imag is_finite is_inf is_nan
        lgamma log log1p log_sigmoid logical_not ndtri negative nextafter real reciprocal
        reciprocal_no_nan rint round rsqrt sigmoid sign sin sinh softplus sqrt square tan tanh
    """,
    "math.special": """
        bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn
        expint fresnel_cos fresnel_sin spence
    """,
    "nn": "elu gelu leaky_relu log_softmax relu relu6 selu silu softsign",
    "strings": """
        as_string length lower regex_full_match regex_replace strip substr to_hash_bucket
        to_hash_bucket_fast to_hash_bucket_strong to_number unicode_transcode upper
    """,
    "": "cast clip_by_value ones_like zeros_like",
    "bitwise": "invert",
    "debugging": "check_numerics",
    "dtypes": "saturate_cast",
    "io": "decode_base64 decode_compressed encode_base64",
    "image": """
        adjust_brightness adjust_gamma convert_image_dtype random_brightness
        stateless_random_brightness
    """,
}
BINARY_APIS = {
    "math": """
        add atan2 divide divide_no_nan equal floordiv floormod greater greater_equal less less_equal
        logical_and logical_or logical_xor maximum minimum multiply multiply_no_nan not_equal pow
        scalar_mul squared_difference subtract truediv xdivy xlog1py xlogy zeta
    """,
    "bitwise": "bitwise_and bitwise_or bitwise_xor left_shift right_shift",
    "dtypes": "complex",
    "nn": "sigmoid_cross_entropy_with_logits",
    "": "realdiv truncatediv truncatemod",
}
ASSERT_APIS = {
    "debugging": """
        assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near
        assert_none_equal
    """
}


OPERATORS = {
    "add": ("math", "add"),
    "sub": ("math", "subtract"),
    "mul": ("math", "multiply"),
    "truediv": ("math", "truediv"),
    "floordiv": ("math", "floordiv"),
    "mod": ("math", "floormod"),
    "pow": ("math", "pow"),
    "matmul": ("", "matmul"),
}
NOT_OF_USERS = ("builtins", "collections", "gradtape", "numpy", "tensorflow")


class DispatchRule(NamedTuple):
    """A function of the user, and the types of arguments for which it is called."""

    target: Any
    """What the user decorated, by which it is unregistered."""
    kinds: Mapping[Any, Any]
    """Annotations of parameters, by name or position."""
    function: Callable[..., Any]


RULES: dict[Any, list[DispatchRule]] = {}  # by undecorated public function
HANDLED: dict[Any, Any] = {}  # handlers of elementwise functions, by their types


def undecorate(api: Any) -> Any:
    """The function that `api` decorates, or `api` itself."""
    return getattr(api, "__wrapped__", api)


def find_apis(names: Mapping[str, str]) -> list[Any]:
    """The public functions of a table."""
    found = []
    for space, text in names.items():
        home = import_module("gradtape")
        for part in filter(None, space.split(".")):
            home = getattr(home, part)
        found += [getattr(home, name) for name in text.split()]
    return found


@cache
def find_operators() -> dict[Any, tuple[Any, bool]]:
    """For each operator, the public function and whether it takes the operands reflected."""
    operators = {}
    for name, (space, public_name) in OPERATORS.items():
        api = undecorate(find_apis({space: public_name})[0])
        for method, is_reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
            operator = undecorate(TENSOR_OPERATORS[method])
            if operator is not api:
                operators[operator] = (api, is_reflected)
    return operators


def add_rule(api: Any, rule: DispatchRule) -> None:
    """Register a rule, and let conversion find the user's classes."""
    RULES.setdefault(undecorate(api), []).append(rule)
    for kind in rule.kinds.values():
        USER_TYPES.update(find_classes(kind))


def find_classes(annotation: Any) -> set[type]:
    """The classes of the user in an annotation."""
    if annotation is TensorLike or annotation is Any:
        return set()
    if isinstance(annotation, type):
        home = annotation.__module__.partition(".")[0]
        is_own = issubclass(annotation, ExtensionType) or home not in NOT_OF_USERS
        return {annotation} if is_own else set()
    parts = typing.get_args(annotation)
    return {kind for part in parts for kind in find_classes(part)}


def has_type(value: Any, annotation: Any) -> bool:
    """Whether a value has an annotated type."""
    if annotation is Any:
        return True
    if annotation is TensorLike:
        return is_tensor_like(value) or isinstance(value, (int, float, complex, bool, str, bytes))
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return any(has_type(value, part) for part in parts)
    if origin in (list, tuple):
        kind = parts[0] if parts else Any
        return isinstance(value, origin) and all(has_type(item, kind) for item in value)
    return isinstance(value, annotation) if isinstance(annotation, type) else False


def matches(rule: DispatchRule, parameters: list[str], args: Any, kwargs: Any) -> bool:
    """Whether the arguments of a call have the types of a rule."""
    given = {**dict(zip(parameters, args, strict=False)), **kwargs}
    for key, annotation in rule.kinds.items():
        name = parameters[key] if isinstance(key, int) else key
        if name not in given or not has_type(given[name], annotation):
            return False
    return True


def call_user_function(error: BaseException, fn: Any, args: Any, kwargs: Any) -> Any:
    """Call the function of the user for such arguments.

    Raises:
        ValueError: `error`, if there is none; or if there are several.
    """
    api = find_operators().get(fn)
    if api is not None:
        fn, is_reflected = api
        args = args[::-1] if is_reflected else args
    rules = RULES.get(fn, [])
    parameters = list(inspect.signature(fn).parameters) if rules else []
    found = {rule.function: rule for rule in rules if matches(rule, parameters, args, kwargs)}
    if not found:
        raise error
    if len(found) > 1:
        targets = [rule.target for rule in found.values()]
        raise ValueError(
            "Multiple dispatch targets that were registered with tf.dispatch_for_api match the "
            f"arguments to {fn.__name__}: {targets}. Unregister all but one."
        )
    return next(iter(found))(*args, **kwargs)


UserTypePort.supply(call_user_function=call_user_function)


@public
def dispatch_for_api(api: Any, *signatures: Mapping[Any, Any]) -> Callable[[Any], Any]:
    """Decorate a function that replaces a public function for some types of arguments.

    Args:
        api: the public function, such as `tf.concat`.
        *signatures: types by parameter name or position; any of them must match. By default the
            annotations of the decorated function.

    Returns:
        A decorator.

    Raises:
        ValueError: if `api` is no public function, or the parameters have other names.

    Note:
        Only arguments that do not convert to tensors are dispatched.

    Example:
        >>> class Masked(tf.experimental.ExtensionType):
        ...     values: tf.Tensor
        ...     mask: tf.Tensor
        >>> @tf.experimental.dispatch_for_api(tf.shape)
        ... def shape_of_masked(input: Masked, out_type=tf.int32):
        ...     return tf.shape(input.values, out_type)
        >>> tf.shape(Masked([1, 2, 3], [True, False, True])).numpy()
        array([3], dtype=int32)
    """
    module = getattr(undecorate(api), "__module__", "")
    if not callable(api) or not str(module).startswith(("gradtape", "tensorflow")):
        raise ValueError(f"{api} does not support dispatch. Pass a function of tf.")
    parameters = list(inspect.signature(api).parameters)

    def decorate(target: Any) -> Any:
        if not callable(target):
            raise TypeError(f"Expected dispatch_target to be callable; got {describe(target)}")
        own = list(inspect.signature(target).parameters)
        accepts = [*own, "name"] if "name" in parameters and "name" not in own else own
        if accepts != parameters:
            raise ValueError(
                f"Dispatch function's signature {own} does not match API's signature {parameters}. "
                "Give its parameters the same names."
            )
        annotations = typing.get_type_hints(target)
        annotations.pop("return", None)
        if not signatures and not annotations:
            raise ValueError(
                "The dispatched function must have at least one type annotation, or signatures."
            )

        def call(*args: Any, **kwargs: Any) -> Any:
            if "name" not in own:
                kwargs.pop("name", None)
                args = args[: len(own)]
            return target(*args, **kwargs)

        for kinds in signatures or (annotations,):
            add_rule(api, DispatchRule(target, kinds, call))
        return target

    return decorate


def register_handler(apis: list[Any], kinds: tuple[Any, ...], handler: Any) -> Any:
    """Register a handler of elementwise functions for operands of these types."""
    if kinds in HANDLED:
        raise ValueError(f"An elementwise dispatch handler has already been registered for {kinds}")
    HANDLED[kinds] = handler
    for api in apis:
        function = make_handler_call(api, handler, len(kinds))
        add_rule(api, DispatchRule(handler, dict(enumerate(kinds[:2])), function))
    return handler


def make_handler_call(api: Any, handler: Any, count: int) -> Callable[..., Any]:
    """Make a function that hands `api` and the operands to a handler."""
    count = min(count, 2)
    names = list(inspect.signature(api).parameters)[:count]

    def call(*args: Any, **kwargs: Any) -> Any:
        operands = [*args[:count], *(kwargs.pop(name) for name in names[len(args) :])]
        rest = args[count:]
        function = api
        if rest or kwargs:
            function = lambda *values: api(*values, *rest, **kwargs)  # noqa: E731 - has the arguments
        return handler(function, *operands)

    return call


@public
def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Any], Any]:
    """Decorate a handler that replaces all elementwise functions of one tensor for a type.

    Args:
        x_type: the type of the first argument.

    Returns:
        A decorator of functions `handler(api_func, x)`.

    Example:
        >>> class Scaled(tf.experimental.ExtensionType):
        ...     values: tf.Tensor
        >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Scaled)
        ... def apply_to_values(api_func, x):
        ...     return Scaled(api_func(x.values))
        >>> tf.abs(Scaled([-1.0, 2.0])).values.numpy()
        array([1., 2.], dtype=float32)
    """
    return lambda handler: register_handler(find_apis(UNARY_APIS), (x_type,), handler)


@public
def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """Decorate a handler that replaces all elementwise functions of two tensors for two types.

    Args:
        x_type: the type of the first argument.
        y_type: the type of the second argument.

    Returns:
        A decorator of functions `handler(api_func, x, y)`.
    """
    return lambda handler: register_handler(find_apis(BINARY_APIS), (x_type, y_type), handler)


@public
def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """Decorate a handler that replaces all assertions about two tensors for two types.

    Args:
        x_type: the type of the first argument.
        y_type: the type of the second argument.

    Returns:
        A decorator of functions `handler(assert_func, x, y)`.
    """
    kinds = (x_type, y_type, "assert")
    return lambda handler: register_handler(find_apis(ASSERT_APIS), kinds, handler)


@public
def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Undo the registration of a function that a `dispatch_for_…` decorator registered.

    Args:
        dispatch_target: the function.

    Returns:
        None.

    Raises:
        ValueError: if it is not registered.
    """
    found = False
    for rules in RULES.values():
        kept = [rule for rule in rules if rule.target is not dispatch_target]
        found = found or len(kept) < len(rules)
        rules[:] = kept
    for kinds in [k for k, handler in HANDLED.items() if handler is dispatch_target]:
        del HANDLED[kinds]
    if not found:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )
