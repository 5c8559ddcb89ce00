"""tf.compat.v1: the names of TensorFlow 1 that eager programs use.

Functions with the same signature in both versions are TensorFlow 2's. Functions with another
signature are adapted. Names of graphs and sessions raise an error that names the replacement.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from gradtape.core.errors import public
from gradtape.tf.compat.v1.adapter import (
    INCOMPATIBLE_NAMES,
    MOVED_NAMES,
    ROOT_NAMESPACES,
    V1_SIGNATURES,
    adapt_signature,
    resolve_name,
)
from gradtape.tf.compat.v1.unsupported import REPLACEMENTS

V1_FUNCTIONS = {
    "gradtape.tf.compat.v1.eager_function": """
        assign assign_add assign_sub assert_variables_initialized control_flow_v2_enabled div
        enable_control_flow_v2 enable_eager_execution enable_resource_variables
        enable_tensor_equality enable_v2_behavior enable_v2_tensorshape
        executing_eagerly_outside_functions
        global_variables_initializer initialize_all_variables
        local_variables_initializer multinomial nn.dropout nn.softmax_cross_entropy_with_logits
        nn.xw_plus_b resource_variables_enabled tables_initializer to_bfloat16 to_complex128
        to_complex64 to_double to_float to_int32 to_int64 variables_initializer where Variable
    """,
    "gradtape.tf.compat.v1.event": "Event Summary SummaryMetadata train.summary_iterator",
    "gradtape.tf.compat.v1.global_step": """
        train.cosine_decay train.create_global_step train.exponential_decay train.get_global_step
        train.get_or_create_global_step train.inverse_time_decay train.natural_exp_decay
        train.piecewise_constant train.piecewise_constant_decay train.polynomial_decay
        train.global_step
    """,
    "gradtape.tf.compat.v1.scope": "VariableScope get_variable_scope variable_scope",
}
MODULE_OF_FUNCTION = {name: home for home, names in V1_FUNCTIONS.items() for name in names.split()}
V1_MODULES = {"losses": "gradtape.tf.compat.v1.losses", "logging": "gradtape.tf.compat.v1.logging"}
REFUSED_NAMES = (
    *("disable_v2_behavior", "disable_eager_execution", "Session", "InteractiveSession"),
    *("get_variable", "make_template"),
)


class V1Namespace(ModuleType):
    """A namespace of tf.compat.v1, such as `nn`."""

    def __init__(self, prefix: str) -> None:
        """Make a namespace that looks up `prefix + name`."""
        super().__init__(f"gradtape.tf.compat.v1.{prefix.rstrip('.')}")
        self.__dict__["prefix"] = prefix

    def __getattr__(self, name: str) -> Any:
        """Look up a name and cache it."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__dict__[name] = find_v1_name(self.__dict__["prefix"] + name)
        return found

    def __dir__(self) -> list[str]:
        """The names of the TensorFlow 2 namespace of the same name."""
        return dir(resolve_name(self.__dict__["prefix"].rstrip(".")))


def find_v1_name(name: str) -> Any:
    """Find the object `tf.compat.v1.<name>`."""
    if name in V1_MODULES:
        return import_module(V1_MODULES[name])
    if name in MODULE_OF_FUNCTION:
        return getattr(import_module(MODULE_OF_FUNCTION[name]), name.rpartition(".")[2])
    if name in REFUSED_NAMES:
        return make_refusing_function(name)
    if name in REPLACEMENTS:
        raise AttributeError(explain_missing_v1_name(name), name=name)
    if name in INCOMPATIBLE_NAMES:
        raise AttributeError(
            f"gradtape does not have tf.compat.v1.{name}: TensorFlow 1 gave it other parameters. "
            f"Use tf.{name}.",
            name=name,
        )
    alias = name.removeprefix("math.") if name.removeprefix("math.") in V1_SIGNATURES else name
    signature = V1_SIGNATURES.get(alias) or V1_SIGNATURES.get(f"math.{name}")
    try:
        found = find_v2_object(name)
    except AttributeError:
        raise AttributeError(explain_missing_v1_name(name), name=name) from None
    if isinstance(found, ModuleType):
        return V1Namespace(f"{name}.")
    return adapt_signature(name, found, signature) if signature else found


def find_v2_object(name: str) -> Any:
    """Find the TensorFlow 2 object that a name stands for; AttributeError if there is none."""
    places = [MOVED_NAMES[name]] if name in MOVED_NAMES else [name]
    if "." not in name and name not in MOVED_NAMES:
        places += [f"{space}.{name}" for space in ROOT_NAMESPACES]
    for place in places:
        try:
            return resolve_name(place)
        except AttributeError:
            continue
    raise AttributeError(name)


def explain_missing_v1_name(name: str) -> str:
    """The error message for a name that gradtape does not have."""
    text = f"gradtape does not have tf.compat.v1.{name}."
    if name in REPLACEMENTS:
        return f"{text} It belongs to TensorFlow 1: {REPLACEMENTS[name]}"
    return f"{text} `python -m gradtape check FILE` lists such names of a program."


def make_refusing_function(name: str) -> Any:
    """Make a function that raises when called: programs often import it without calling it."""

    @public
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(explain_missing_v1_name(name))

    refuse.__name__ = name
    refuse.is_refusal = True  # type: ignore[attr-defined]
    return refuse


def __getattr__(name: str) -> Any:
    """Look up a name and cache it."""
    if name.startswith("__"):
        raise AttributeError(name)
    found = globals()[name] = find_v1_name(name)
    return found
