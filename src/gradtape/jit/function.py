"""`function`: a Python function that is called as a compiled graph."""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from typing import Any

from gradtape.compile.engine import Choice
from gradtape.core.context import local
from gradtape.core.device.lazy_tensor import Pending, held
from gradtape.core.device.switch import THEN, in_use
from gradtape.core.errors import public
from gradtape.core.lock import Lock
from gradtape.core.tensor import EagerTensor
from gradtape.jit import retrace_warning
from gradtape.jit.nested_call import inlined
from gradtape.jit.signature import PLAIN, Call, Signature, weak
from gradtape.jit.specialization import Compiled
from gradtape.state.random.stream import Streams

MOST_SIGNATURES = 256  # of one function; the one used longest ago goes first


class Mode:
    """Whether functions just call the Python they wrap.

    Attributes:
        eager: whether they do.
        quick: whether a call may go straight to its plan; not where devices count.
    """

    eager = False
    quick = True

    @classmethod
    def settle(cls) -> None:
        """Something has changed."""
        cls.quick = not cls.eager and not in_use[0]


THEN.append(Mode.settle)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Let every `tf.function` just call the Python it wraps, or no longer.

    Args:
        run_eagerly: whether to.
    """
    Mode.eager = bool(run_eagerly)
    Mode.settle()


def functions_run_eagerly() -> bool:
    """Whether every `tf.function` just calls the Python it wraps."""
    return Mode.eager


def told_apart(args: Any, key: list[Any], tensors: list[Any]) -> bool:
    """Whether arguments are tensors, plain values, and tuples and lists of these.

    What tells them from others of that kind is added to `key`, and the tensors to `tensors`.
    """
    for a in args:
        kind = type(a)
        if kind is EagerTensor or kind is Pending:
            raw = held(a)
            key.append(raw.shape)
            key.append(raw.dtype)
            tensors.append(a)
        elif kind in PLAIN:
            key.append(kind)
            key.append(a)
        elif kind is tuple or kind is list:
            key.append(kind)
            key.append(len(a))
            if not told_apart(a, key, tensors):
                return False
        else:
            return False
    return True


class Function:
    """What `tf.function` makes of a Python function.

    The first call with a signature runs the Python and records it; later ones run the graph.
    """

    _saves_as_function = True

    def __init__(
        self, python_function: Any, name: str, input_signature: Any = None, **options: Any
    ) -> None:
        """Wrap `python_function`."""
        self._python_function = python_function
        self._name = name
        self._input_signature = input_signature
        self._options = options
        self._signature = Signature(python_function, input_signature)
        self.parameters = list(self._signature.parameters.parameters) or ["args"]
        self._cache: OrderedDict[Any, Compiled] = OrderedDict()
        self._quick: dict[Any, Any] = {}
        self._quick_keys: dict[Any, list[Any]] = {}
        self._lock = Lock()
        self._methods: dict[int, tuple[Any, Function]] = {}  # by id of the instance
        self._has_created = False
        self._watched: dict[Any, Any] = {}
        self.choice: Choice = options.setdefault("choice", Choice(name, options.get("jit_compile")))
        self.autograph = bool(options.get("autograph", True))
        self.traces = 0
        self.warns = True  # of being traced again and again; a dataset's functions do not
        self.quiet = 0  # calls that found their trace since the last that did not
        self.pieces: dict[Any, Any] = {}
        # Random ops are the same ones for all shapes where TensorFlow traces once for them.
        self.streams = Streams() if input_signature is not None else None
        self.differentiates = False  # whether it calls tf.gradients
        self.asked: list[tuple[Any, Any]] = []  # calls of unknown sizes that were asked about
        functools.update_wrapper(self, python_function, updated=())

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._name

    @property
    def python_function(self) -> Any:
        """The function that is wrapped."""
        return self._python_function

    @property
    def function_spec(self) -> Any:
        """The parameters."""
        return self._signature

    @property
    def input_signature(self) -> Any:
        """Specs of the arguments, if they were given."""
        return self._input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if not kwargs and Mode.quick:
            key: list[Any] = []
            tensors: list[Any] = []
            if told_apart(args, key, tensors):
                ready = self._quick.get(tuple(key))
                if ready is not None:
                    return ready(args, tensors)
        return self._call(*args, **kwargs)

    @public
    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if Mode.eager or local.scratch:
            return self._python_function(*args, **kwargs)
        call = self._signature.bind(args, kwargs)
        recorders = local.recorders
        if recorders and recorders[0].stages:
            return inlined(self, call, recorders[0])
        return self.compiled_for(call).run(call)

    def compiled_for(self, call: Call) -> Compiled:
        """What is known for the signature of a call."""
        compiled = self._cache.get(call.key)
        if compiled is not None:
            self._cache.move_to_end(call.key)
            self.quiet += 1
            return compiled
        with self._lock:
            if self.warns:
                retrace_warning.traced(self, call, next(reversed(self._cache.values()), None))
            compiled = self._cache[call.key] = Compiled(self, call)
            if call.watched:
                self.forget_with(call)
            while len(self._cache) > MOST_SIGNATURES:
                self._drop(next(iter(self._cache)))
        return compiled

    def quickly(self, call: Call, compiled: Compiled) -> None:
        """Let later calls with such arguments go straight to what is compiled, if they can."""
        key: list[Any] = []
        if not call.given and (call.args or call.kwargs):
            return
        if not told_apart(call.given, key, []):
            return
        self._quick[tuple(key)] = compiled.ready()
        self._quick_keys.setdefault(call.key, []).append(tuple(key))

    def _drop(self, key: Any) -> None:
        """Forget a signature."""
        self._cache.pop(key, None)
        self._watched.pop(key, None)
        self.pieces.pop(key, None)
        for quick in self._quick_keys.pop(key, ()):
            self._quick.pop(quick, None)

    def keep_piece(self, call: Call, piece: Any) -> None:
        """Remember what a call inside another function's trace has recorded."""
        self.pieces[call.key] = piece
        if call.watched and call.key not in self._watched:
            self.forget_with(call)
        while len(self.pieces) > MOST_SIGNATURES:
            self.pieces.pop(next(iter(self.pieces)))

    def forget_with(self, call: Call) -> None:
        """Drop what is known for a call when an object among its arguments dies."""
        owner, key = weakref.ref(self), call.key

        def gone(_: Any) -> None:
            function = owner()
            if function is not None:
                function._drop(key)

        self._watched[key] = [weak(thing, gone) for thing in call.watched]

    def made(self, variables: list[Any]) -> None:
        """A call has created variables, which only the first may."""
        if self._has_created:
            raise ValueError(
                f"tf.function only supports singleton tf.Variables created on the first call. Make "
                f"sure the tf.Variable is only created once or created outside tf.function "
                f"({self._name} created {variables[0].name!r} again)."
            )
        self._has_created = True

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced."""
        return self.traces

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The function for one signature.

        Args:
            *args: arguments; specs stand for tensors.
            **kwargs: the same by name.

        Returns:
            A `ConcreteFunction`.
        """
        from gradtape.jit.concrete_function import ConcreteFunction

        return ConcreteFunction(self, args, kwargs)

    def described_calls(self) -> list[tuple[Any, Any]]:
        """(args, kwargs) of the calls that it is traced for; specs stand for tensors."""
        known = sorted(self._cache.values(), key=lambda one: one.born)
        return [c.described for c in known if c.described is not None] + self.asked

    def path_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The only way that calls with such arguments take, if there is one; None else."""
        compiled = self._cache.get(Call(args, kwargs).key)
        if compiled is None or compiled.tree is None:
            return None
        return compiled.only or compiled.tree.root.path

    def _list_all_concrete_functions(self) -> list[Any]:
        calls = self.described_calls()
        if self._input_signature is not None:
            calls = [(tuple(self._input_signature), {})]
        return [self.get_concrete_function(*args, **kwargs) for args, kwargs in calls]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """What it is traced for, by number; a checkpoint holds none of it."""
        if save_type == "checkpoint":
            return {}
        return {f"trace_{i}": one for i, one in enumerate(self._list_all_concrete_functions())}

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Arguments, results and captures of every trace there is, as readable lines."""
        texts = []
        for compiled in sorted(self._cache.values(), key=lambda one: one.born):
            if compiled.described is not None:
                args, kwargs = compiled.described
                concrete = self.get_concrete_function(*args, **kwargs)
                texts.append(concrete.pretty_printed_signature(verbose))
        return "\n\n".join(texts)

    def fallbacks(self) -> dict[str, int]:
        """How often, and why, calls ran the Python instead of a compiled graph."""
        counts: dict[str, int] = {}
        for compiled in self._cache.values():
            if compiled.fallbacks:
                why = compiled.eager_because or "another call was running"
                counts[why] = counts.get(why, 0) + compiled.fallbacks
        return counts

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method, bind to the instance; it keeps its traces as long as there is one."""
        if instance is None:
            return self
        known = self._methods.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        try:
            reference = weakref.ref(instance, functools.partial(self._forgotten, id(instance)))
        except TypeError:  # it has no weak references
            return self.bound_to(instance)
        method = self.bound_to(instance, weak=True)
        self._methods[id(instance)] = (reference, method)
        return method

    def _forgotten(self, key: int, reference: Any) -> None:
        """An instance is gone: so may be what was traced for it."""
        known = self._methods.get(key)
        if known is not None and known[0] is reference:
            del self._methods[key]

    def bound_to(self, instance: Any, weak: bool = False) -> Function:
        """The function with its first argument given."""
        bound: Any = Bound(self._python_function, instance, weak)
        specs = self._input_signature
        return Function(bound, self._name, specs, **self._options)

    def __repr__(self) -> str:
        """Name the Python function."""
        return f"<gradtape.function {self._python_function!r}>"


class Bound:
    """A Python function with its first argument given; held weakly, for the cache is its own."""

    def __init__(self, function: Any, instance: Any, weak: bool) -> None:
        """Call `function` on `instance`."""
        self._function = function
        self._instance = weakref.ref(instance) if weak else lambda: instance
        functools.update_wrapper(self, function)
        vars(self).pop("__wrapped__", None)
        self.__signature__ = without_first(function)

    @property
    def __self__(self) -> Any:
        """The instance."""
        return self._instance()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        instance = self._instance()
        if instance is None:
            raise ReferenceError(
                f"{self._function.__name__}: the object whose method this is has been deleted."
            )
        return self._function(instance, *args, **kwargs)


def without_first(function: Any) -> Any:
    """The signature of a method, once bound."""
    import inspect

    signature = inspect.signature(function)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


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
        jit_compile: True for XLA (docs/xla.md), False for NumPy; None: as `gradtape.engine` says.
        reduce_retracing: accepted; traces are made for each concrete shape.
        experimental_implements: accepted for TensorFlow's sake.
        experimental_autograph_options: accepted for TensorFlow's sake.
        experimental_attributes: accepted for TensorFlow's sake.
        experimental_relax_shapes: the older name of `reduce_retracing`.
        experimental_compile: the older name of `jit_compile`.
        experimental_follow_type_hints: accepted for TensorFlow's sake.

    Returns:
        A `Function`, or a decorator that makes one.

    Example:
        >>> @tf.function
        ... def square(x):
        ...     return x * x
        >>> square(tf.constant(3.0)).numpy()
        np.float32(9.0)
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
