"""`function`: a Python function that is to be called as a compiled graph."""

from __future__ import annotations

import functools
from typing import Any

from gradtape.core.errors import public


class Mode:
    """Whether functions just call the Python they wrap."""

    eager = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let every `tf.function` just call the Python it wraps, or no longer.

    Args:
        run_eagerly: whether to.
    """
    Mode.eager = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether every `tf.function` just calls the Python it wraps."""
    return Mode.eager


class Function:
    """What `tf.function` makes of a Python function.

    Note:
        Compiling is not there yet: a call runs the Python if functions are run eagerly, and is
        refused otherwise.
    """

    def __init__(
        self, python_function: Any, name: str, input_signature: Any = None, **options: Any
    ) -> None:
        """Wrap `python_function`."""
        self._python_function = python_function
        self._name = name
        self._input_signature = input_signature
        self._options = options
        functools.update_wrapper(self, python_function)

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._name

    @property
    def python_function(self) -> Any:
        """The function that is wrapped."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """Specs of the arguments, if they were given."""
        return self._input_signature

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if not Mode.eager:
            raise NotImplementedError(
                f"tf.function: {self._name} cannot be compiled yet. Leave the decorator out, or "
                "run eagerly with tf.config.run_functions_eagerly(True)."
            )
        return self._python_function(*args, **kwargs)

    @public
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: compiling is not there yet."""
        raise NotImplementedError(f"tf.function: {self._name} cannot be compiled yet.")

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced: never."""
        return 0

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method, bind to the instance."""
        if instance is None:
            return self
        bound = functools.partial(self._python_function, instance)
        functools.update_wrapper(bound, self._python_function)
        return Function(bound, self._name, self._input_signature, **self._options)


def function(
    func: Any = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Make of `func` a function that is compiled when it is first called.

    Args:
        func: the Python function; None to get a decorator.
        input_signature: specs of the arguments.
        autograph: whether Python's control flow may depend on tensors.
        jit_compile: whether to compile with XLA.
        reduce_retracing: whether to generalise over shapes.
        experimental_implements: accepted for TensorFlow's sake.
        experimental_autograph_options: accepted for TensorFlow's sake.
        experimental_attributes: accepted for TensorFlow's sake.
        experimental_relax_shapes: the older name of `reduce_retracing`.
        experimental_compile: the older name of `jit_compile`.
        experimental_follow_type_hints: accepted for TensorFlow's sake.

    Returns:
        A `Function`, or a decorator that makes one.

    Note:
        Compiling is not there yet: see `Function`.
    """
    options = {
        "autograph": autograph,
        "jit_compile": jit_compile if jit_compile is not None else experimental_compile,
        "reduce_retracing": bool(reduce_retracing or experimental_relax_shapes),
    }

    def decorate(f: Any) -> Function:
        if not callable(f):
            raise TypeError(f"{f!r} is not a callable object")
        return Function(f, getattr(f, "__name__", type(f).__name__), input_signature, **options)

    return decorate if func is None else decorate(func)
