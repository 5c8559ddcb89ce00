"""`function`: a Python function that is traced once per signature and runs as a compiled graph."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from gradtape.compile.engine import EngineChoice
from gradtape.core.context import current_batch, local
from gradtape.core.errors import public
from gradtape.core.lock import Lock
from gradtape.core.ports import make_html
from gradtape.core.replica import is_parallel_replica, parallel_runs, replica_state
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.graph.trace_options import TraceOptions
from gradtape.graph.variable_versions import VariableVersions
from gradtape.jit.bound_function import BoundFunction, bind_by_name, find_in_module
from gradtape.jit.cache_key import describe
from gradtape.jit.function_cache import FunctionCache
from gradtape.jit.guard_tree import StoppedRun
from gradtape.jit.loop_option import rewrite_loops
from gradtape.jit.nested_call import call_inside_trace
from gradtape.jit.open_signature import OpenSignature, make_open_signature
from gradtape.jit.run_mode import RunMode
from gradtape.jit.signature import Call, Signature
from gradtape.state.random.stream import FunctionStreams

MAX_NODES = 20_000  # of one graph; calls of a larger function run Python


class Function(FunctionCache):
    """A Python function that `tf.function` wraps.

    The first call with a signature runs the Python function and traces it; later calls run the
    compiled graph.
    """

    _saves_as_function = True

    def __init__(
        self, python_function: Any, name: str, input_signature: Any = None, **options: Any
    ) -> None:
        """Wrap `python_function`."""
        super().__init__()
        self._python_function = python_function
        self._name = name
        self._input_signature = input_signature
        self._options = options
        self._signature = Signature(python_function, input_signature)
        self.parameters = list(self._signature.parameters.parameters) or ["args"]
        self._keyword_orders: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.first_trace = Lock()
        self.has_traced = False
        self._methods: dict[int, tuple[Any, Function]] = {}  # by id of the instance
        self._has_created = False
        self.choice: EngineChoice = options.setdefault(
            "choice", EngineChoice(name, options.get("jit_compile"))
        )
        self.autograph = bool(options.get("autograph", True))
        self.has_rewritten_loops = False
        self.traces = 0
        # With an input_signature TensorFlow traces once for all shapes: they share the streams.
        self.streams = FunctionStreams() if input_signature is not None else None
        self.open_signature = make_open_signature(
            input_signature, bool(options.get("reduce_retracing"))
        )
        self.differentiates = False  # whether it calls tf.gradients
        self.requested_calls: list[
            tuple[Any, Any]
        ] = []  # calls of unknown sizes that were requested
        functools.update_wrapper(self, python_function, updated=())
        # A callable object, such as a module, keeps its attributes, as in TensorFlow.
        for attribute, value in getattr(python_function, "__dict__", {}).items():
            self.__dict__.setdefault(attribute, value)

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._name

    @property
    def python_function(self) -> Any:
        """The wrapped Python function."""
        return self._python_function

    def _decorate(self, decorator: Any) -> None:
        """Decorate the Python function, before its first trace; Sonnet calls TensorFlow's method.

        Raises:
            ValueError: if the function was traced already.
        """
        if self.has_traced:
            raise ValueError("Function: it must be decorated before its first call.")
        self._python_function = decorator(self._python_function)
        self._signature = Signature(self._python_function, self._input_signature)

    def traced_function(self) -> Any:
        """The Python function for a trace, with loops that obey `set_loop_options`."""
        if self.autograph and not self.has_rewritten_loops:
            rewrite_loops(self._python_function)
            self.has_rewritten_loops = True
        return self._python_function

    @property
    def trace_options(self) -> TraceOptions:
        """The options of its traces."""
        return TraceOptions(self._name, self.autograph, max_nodes=MAX_NODES, choice=self.choice)

    @property
    def function_spec(self) -> Any:
        """The parameters."""
        return self._signature

    @property
    def input_signature(self) -> Any:
        """The specs given as `input_signature`, or None."""
        return self._input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        try:
            if not RunMode.quick:
                return self._bind_and_call(None, args, kwargs)
            parts: list[Any] = []
            tensors: list[Any] = []
            variables: list[Any] = []
            if args:
                describe(args, parts, tensors, variables, self.captured_keys)
            if kwargs:
                if len(kwargs) > 1:
                    kwargs = self._order_keywords(kwargs)
                parts.append(tuple(kwargs))
                describe(kwargs.values(), parts, tensors, variables, self.captured_keys)
            key = tuple(parts)
            known = self._cache.get(key)
            if known is None or (executable := known.executable) is None:
                return self._bind_and_call((key, tensors, variables), args, kwargs)
            recorders = local.recorders
            if not recorders:
                known.is_recent = True
                self.hits_since_trace += 1
                return executable.run(tensors, variables)
            if recorders[0].is_trace:
                return self._bind_and_call(None, args, kwargs)
            known.is_recent = True
            self.hits_since_trace += 1
            return executable.record(tensors, variables)
        except StoppedRun as stopped:
            stop = stopped
        except Exception as error:
            hide_library_frames(error)
            self.replace_error(error, args, kwargs)
            raise
        return self._finish(known, stop, args, kwargs)

    def replace_error(self, error: Exception, args: Any, kwargs: Any) -> None:
        """Raise the error that users see in place of one of a call, if it is another one."""

    def _order_keywords(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments in the order in which a bound call has them."""
        names = tuple(kwargs)
        ordered = self._keyword_orders.get(names)
        if ordered is None:
            ordered = self._keyword_orders[names] = self._signature.order_keywords(names)
        if names == ordered:
            return kwargs
        return dict(zip(ordered, map(kwargs.__getitem__, ordered), strict=True))

    @public
    def _finish(self, known: Any, stop: StoppedRun, args: Any, kwargs: Any) -> Any:
        return known.finish(self._signature.bind(args, kwargs, self.captured_keys), stop)

    def _bind_and_call(self, passed: Any, args: Any, kwargs: Any) -> Any:
        """Call the function where the cache does not know the arguments as they are passed.

        `passed` is the key, the tensors and the variables of the arguments, or None.
        """
        if RunMode.eager or current_batch() is not None:
            return self._python_function(*args, **kwargs)
        call = self._signature.bind(args, kwargs, self.captured_keys)
        if parallel_runs[0] and is_parallel_replica():  # replicas use other copies of variables
            call.key = (*call.key, ("replica", replica_state.replica._local_number))
        recorders = local.recorders
        if recorders and recorders[0].is_trace:
            return call_inside_trace(self, call, recorders[0])
        known = self.specialization_for(call)
        result = known.run(call)
        if passed is not None and passed[0] not in known.keys and call.key in known.keys:
            self._add_alias(passed, call, known)
        return result

    def note_created_variables(self, versions: VariableVersions) -> None:
        """Note that a call created variables.

        Raises:
            ValueError: if an earlier call has created variables already.
        """
        if self._has_created:
            raise ValueError(
                f"tf.function only supports singleton tf.Variables created on the first call. Make "
                f"sure the tf.Variable is only created once or created outside tf.function "
                f"({self._name} created {versions.created[0].name!r} again, in "
                f"{versions.created_at})."
            )
        self._has_created = True

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced."""
        return self.traces

    @public
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The concrete function for one signature.

        Args:
            *args: arguments, or specs in place of tensors.
            **kwargs: arguments by name.

        Returns:
            A `ConcreteFunction`.
        """
        from gradtape.jit.concrete_function import ConcreteFunction

        return ConcreteFunction(self, args, kwargs)

    def add_open_trace(self, call: Call, shapes: list[Any], trace: Any) -> None:
        """Let a trace for specs serve calls; `call` is one that fits the open `shapes`."""
        if self.open_signature is None:
            self.open_signature = OpenSignature(None, reduces_retracing=False)
        self.open_signature.add_requested(call, shapes, trace)

    def list_call_specs(self) -> list[tuple[Any, Any]]:
        """(args, kwargs) of the traced or requested signatures, with specs for tensors."""
        specs = [known.call_specs for known in self.list_specializations()]
        return [given for given in specs if given is not None] + self.requested_calls

    def path_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The path of calls with such arguments, if they all take the same; else None."""
        compiled = self._cache.get(Call(args, kwargs).key)
        if compiled is None or compiled.tree is None:
            return None
        return compiled.only_path or compiled.tree.root.path

    def _list_all_concrete_functions(self) -> list[Any]:
        calls = self.list_call_specs()
        if self._input_signature is not None:
            calls = [(tuple(self._input_signature), {})]
        return [self.get_concrete_function(*args, **kwargs) for args, kwargs in calls]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The concrete functions, by number; a checkpoint contains none of them."""
        if save_type == "checkpoint":
            return {}
        return {f"trace_{i}": one for i, one in enumerate(self._list_all_concrete_functions())}

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Arguments, results and captures of every trace, as readable lines.

        Args:
            verbose: whether to list captures, too.

        Returns:
            One paragraph for each trace.
        """
        texts = []
        for compiled in self.list_specializations():
            if compiled.call_specs is not None:
                args, kwargs = compiled.call_specs
                concrete = self.get_concrete_function(*args, **kwargs)
                texts.append(concrete.pretty_printed_signature(verbose))
        return "\n\n".join(texts)

    def fallbacks(self) -> dict[str, int]:
        """Reasons why calls ran the Python function instead of a compiled graph, with counts."""
        counts: dict[str, int] = {}
        for compiled in self.list_specializations():
            if compiled.fallbacks:
                why = compiled.eager_reason or "another call was running"
                counts[why] = counts.get(why, 0) + compiled.fallbacks
        return counts

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance; its traces are kept for the lifetime of the instance."""
        if instance is None:
            return self
        known = self._methods.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        try:
            reference = weakref.ref(instance, functools.partial(self._drop_method, id(instance)))
        except TypeError:  # its class does not support weak references
            return self.bind_instance(instance)
        with self._lock:
            known = self._methods.get(id(instance))
            if known is None or known[0]() is not instance:
                known = (reference, self.bind_instance(instance, weak=True))
                self._methods[id(instance)] = known
        return known[1]

    def _drop_method(self, key: int, reference: Any) -> None:
        """Drop the method of an instance that was deleted."""
        known = self._methods.get(key)
        if known is not None and known[0] is reference:
            del self._methods[key]

    def bind_instance(self, instance: Any, weak: bool = False) -> Function:
        """The function with `instance` as its first argument."""
        bound: Any = BoundFunction(self._python_function, instance, weak)
        specs = self._input_signature
        return Function(bound, self._name, specs, **self._options)

    _repr_html_ = make_html

    def __repr__(self) -> str:
        """Name the Python function."""
        return f"<gradtape.function {self._python_function!r}>"

    def __copy__(self) -> Function:
        """A function of the same Python function and object, without traces."""
        options = {name: value for name, value in self._options.items() if name != "choice"}
        return Function(self._python_function, self._name, self._input_signature, **options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        """The same as a copy: Python does not copy functions and objects of methods either."""
        return self.__copy__()

    def __reduce__(self) -> Any:
        """Pickle by name, if its module or its object has the function under its name."""
        python_function = self._python_function
        if isinstance(python_function, BoundFunction):
            return bind_by_name, (python_function.__self__, python_function._function.__name__)
        if find_in_module(python_function) is self:
            return python_function.__qualname__
        options = {name: value for name, value in self._options.items() if name != "choice"}
        return functools.partial(Function, **options), (
            python_function,
            self._name,
            self._input_signature,
        )


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
    """Wrap `func` in a function that is traced and compiled when it is called.

    Args:
        func: the Python function; None to get a decorator.
        input_signature: specs of the arguments.
        autograph: whether Python's control flow may depend on tensors.
        jit_compile: True for XLA, False for NumPy; None for the default of
            `gradtape.engine`.
        reduce_retracing: whether calls whose sizes differ share a trace, in which these sizes are
            unknown.
        experimental_implements: accepted without effect.
        experimental_autograph_options: accepted without effect.
        experimental_attributes: accepted without effect.
        experimental_relax_shapes: the older name of `reduce_retracing`.
        experimental_compile: the older name of `jit_compile`.
        experimental_follow_type_hints: accepted without effect.

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
            raise TypeError(f"function: func must be callable. Received {f!r:.60}.")
        return Function(f, getattr(f, "__name__", type(f).__name__), input_signature, **options)

    return decorate if func is None else decorate(func)
