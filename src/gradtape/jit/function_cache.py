"""FunctionCache: the specializations of a function by the keys of their calls."""

from __future__ import annotations

import weakref
from typing import Any

from gradtape.core.lock import Lock
from gradtape.jit import retrace_warning
from gradtape.jit.open_signature import OpenSignature, has_composites
from gradtape.jit.signature import Call, make_weak_reference
from gradtape.jit.specialization import Specialization

MOST_SIGNATURES = 256  # of one function; the least recently used is dropped first


class FunctionCache:
    """Base class of `Function`.

    Attributes:
        captured_keys: keys of captured variables that may be arguments, too.
        replayable_traces: recorded calls inside other traces, by the key of the call.
        hits_since_trace: cache hits since the last trace.
        warns_of_retracing: whether to warn of frequent retracing; off for functions of datasets.
        open_signature: which sizes are open, and the traces of unknown sizes.
    """

    open_signature: OpenSignature | None

    def __init__(self) -> None:
        """Start empty."""
        # By the keys of arguments as they are bound, and as they are passed.
        self._cache: dict[Any, Specialization] = {}
        self._lock = Lock()
        self._watched: dict[Any, Any] = {}
        self.captured_keys: frozenset[int] = frozenset()
        self.replayable_traces: dict[Any, Any] = {}
        self.hits_since_trace = 0
        self.warns_of_retracing = True

    def _add_alias(self, passed: Any, call: Call, known: Specialization) -> None:
        """Let calls that pass their arguments like this one find the specialization at once.

        This is impossible if binding has converted arguments or added tensors by default.
        """
        key, tensors, variables = passed
        if [(t._array.shape, t._array.dtype) for t in tensors] != [
            (t._array.shape, t._array.dtype) for t in call.tensors
        ]:
            return
        if list(map(id, variables)) != list(map(id, call.variables)):
            return
        with self._lock:
            if call.key in self._cache:
                self._cache[key] = known
                known.keys.append(key)

    def specialization_for(self, call: Call) -> Specialization:
        """The specialization for the signature of a call; it is created if it is new."""
        known = self._cache.get(call.key)
        if known is not None:
            known.is_recent = True
            self.hits_since_trace += 1
            return known
        with self._lock:
            known = self._cache.get(call.key)
            if known is not None:  # another thread was first
                return known
            made = Specialization(self, call)
            is_traced = False
            if self.open_signature is None and has_composites(call):
                self.open_signature = OpenSignature(None, reduces_retracing=False)
            if self.open_signature is not None:
                made.open_traces = self.open_signature.find(call)
                is_traced = made.find_traced_paths(call)
            if not is_traced and self.warns_of_retracing:
                retrace_warning.warn_if_retracing(
                    self, call, next(reversed(self._cache.values()), None)
                )
            known = self._cache[call.key] = made
            known.keys.append(call.key)
            weak_objects = call.weak_objects
            if weak_objects:
                self.drop_when_dead(call.key, weak_objects)
            self._drop_old_specializations()
        return known

    def _drop_old_specializations(self) -> None:
        """Drop the oldest specializations that were not called lately, if there are too many."""
        while len(self._cache) > MOST_SIGNATURES:
            key, known = next(iter(self._cache.items()))
            if known.is_recent:
                known.is_recent = False
                self._cache[key] = self._cache.pop(key)
            else:
                self._drop(key)

    def note_captured_variables(
        self, call: Call, known: Specialization, path: Any, captured_arguments: set[int]
    ) -> None:
        """Describe variables that the function captures by identity where they are arguments.

        A trace for other variables must not serve a call that passes a captured one, nor the
        other way round.
        """
        if not call.variables:
            return
        captured = {s._key for s in path.states if type(s) is not int} | captured_arguments
        if captured <= self.captured_keys:
            return
        with self._lock:
            self.captured_keys = self.captured_keys | captured
            if captured_arguments:
                self._drop(call.key)
                call = Call(call.args, call.kwargs, self.captured_keys)
                self._cache[call.key] = known
                known.keys = [call.key]

    def list_specializations(self) -> list[Specialization]:
        """All specializations, oldest first."""
        unique = {known.serial_number: known for known in list(self._cache.values())}
        return [unique[number] for number in sorted(unique)]

    def _drop(self, key: Any) -> None:
        """Drop everything that is cached for a signature."""
        known = self._cache.pop(key, None)
        for other in known.keys if known is not None else ():
            self._cache.pop(other, None)
        self._watched.pop(key, None)
        self.replayable_traces.pop(key, None)

    def cache_by_key(self, key: Any, replayable: Any) -> None:
        """Cache what a call inside another function's trace has recorded; None: it must run."""
        self.replayable_traces[key] = replayable
        while len(self.replayable_traces) > MOST_SIGNATURES:
            self.replayable_traces.pop(next(iter(self.replayable_traces)))

    def cache_replayable(self, call: Call, replayable: Any) -> None:
        """Cache what a call has recorded until an object among its arguments is deleted."""
        self.cache_by_key(call.key, replayable)
        if call.weak_objects and call.key not in self._watched:
            self.drop_when_dead(call.key, call.weak_objects)

    def drop_when_dead(self, key: Any, objects: list[Any]) -> None:
        """Drop the signature of a call when an object among its arguments is deleted."""
        owner = weakref.ref(self)

        def drop(_: Any) -> None:
            function = owner()
            if function is not None:
                function._drop(key)

        self._watched[key] = [make_weak_reference(thing, drop) for thing in objects]
